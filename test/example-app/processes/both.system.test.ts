import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../support/services/servers/free-port.mjs'
import {
  ALICE,
  built,
  finish,
  launch,
  loginInFlight,
  NORTH,
  REPORT,
  start,
  startBoth,
  statusOf,
  tempDir,
  tokenFrom,
  watch,
} from '../support.js'

/** Runs lines in bash, as if they were pasted. */
const bash = (lines: string) => finish(launch('bash', [], {}), lines)

test('npm start prints lines that work in bash: tokens, statements, totals, and each refusal', async () => {
  const { output } = await startBoth({ DATA_DIR: await tempDir() })
  const lines = output().match(/^ {2}(?=curl|TOKEN=).+/gm) ?? []
  const { stdout, code } = await bash(lines.join('\necho; echo @@@\n'))
  expect(code).toBe(0)
  const expected = [
    /^HTTP\/1\.1 200 [\s\S]+\n\{"authenticationToken":"[^"]+","expiration":"[-\d]+T[:\d]+\.\d+Z"\}$/m,
    /^\s*$/,
    /^HTTP\/1\.1 200 [\s\S]+Settlement 1041/,
    /^HTTP\/1\.1 200 [\s\S]+Settlement 77/,
    /^HTTP\/1\.1 200 [\s\S]+"day":"2013-05-02","statements":2,"total":"1237\.50"/,
    /^HTTP\/1\.1 401 [\s\S]+\nWWW-Authenticate: Bearer realm="/,
    /^HTTP\/1\.1 403 [\s\S]+\nContent-Length: 0\r\n[\s\S]+\r\n\r\n\n$/,
    /^HTTP\/1\.1 403 [\s\S]+error="insufficient_scope"/,
  ]
  expect(stdout.split('@@@\n')).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
})

test('hello prints lines that work in bash: sign in, then call a guarded route', async () => {
  const port = await freePort()
  const { printed, output } = watch(launch(process.execPath, [built('hello')], { PORT: `${port}` }))
  await printed('$TOKEN"\n')
  const lines = output().slice(output().indexOf('TOKEN='))
  const { stdout, code } = await bash(lines)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]+\r\n\r\n\{"hello":"alice@example\.com"\}$/)
  const busy = await finish(launch(process.execPath, [built('hello')], { PORT: `${port}` }), '')
  expect(busy).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EADDRINUSE') })
  expect((await bash(lines.replace('correct horse', 'wrong'))).stdout).toMatch(/^HTTP\/1\.1 40[01] /)
})

test('Ctrl-C: both APIs finish the requests in flight and stop', async () => {
  const app = await startBoth({ DATA_DIR: await tempDir() })
  const send = await loginInFlight(app.url)
  app.kill('SIGINT')
  await app.printed('Stopping')
  for (const url of [app.url, app.reporting]) await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  expect(await send()).toMatchObject({ status: 200, connection: 'close' })
  expect(await app.exit).toEqual({ code: 0, signal: null })
  expect(app.output()).toMatch(/\nStopping .+\n$/)
})

test('npm start reporting needs the database and the address of the keys, and no signing key', async () => {
  const BASE_URL = 'http://localhost:3000'
  const [dataDir, readDir] = [await tempDir(), join(await tempDir(), 'data')]
  const first = await start({ DATA_DIR: dataDir, BASE_URL })
  const token = await tokenFrom(first.url, ALICE)
  await mkdir(readDir)
  for (const file of await readdir(dataDir))
    if (file.includes('.sqlite')) await copyFile(join(dataDir, file), join(readDir, file))
  const env = { DATA_DIR: readDir, BASE_URL, JWKS_URL: `${first.url}/.well-known/jwks.json` }
  const { url, output } = await start(env, 'reporting')
  expect(output()).toBe(`The online reporting API listens on ${url} (Ctrl-C stops it).\n`)
  expect(await statusOf(url + REPORT, token)).toBe(200)
  expect(await statusOf(url + NORTH, token)).toBe(404)
  expect((await readdir(readDir)).filter((file) => /key|pem/.test(file))).toEqual([])
})
