import { expect, test } from 'vitest'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { built, finish, launch, startBoth, tempDir, watch } from '../support.js'

/** Runs lines in bash, as if they were pasted. */
async function bash(lines: string) {
  return finish(launch('bash', [], {}), lines)
}

test('npm start prints lines that work in bash: tokens, statements, totals, and each refusal', async () => {
  const { output } = await startBoth({ DATA_DIR: await tempDir() })
  const lines = output().match(/^ {2}(?=curl|TOKEN=).+/gm) ?? []
  const { stdout, code } = await bash(lines.join('\necho; echo @@@\n'))
  const [token, kept, north, south, totals, without, wrong, scopeless, ...more] = stdout.split('@@@\n')
  expect(code).toBe(0)
  expect(more).toEqual([])
  expect(token).toMatch(/^HTTP\/1\.1 200 /)
  expect(token).toMatch(/^\{"authenticationToken":"[^"]+","expiration":"[-\d]+T[:\d]+\.\d+Z"\}$/m)
  expect(kept?.trim()).toBe('')
  expect(north).toMatch(/^HTTP\/1\.1 200 [\s\S]+Settlement 1041/)
  expect(south).toMatch(/^HTTP\/1\.1 200 [\s\S]+Settlement 77/)
  expect(totals).toMatch(/^HTTP\/1\.1 200 [\s\S]+"day":"2013-05-02","statements":2,"total":"1237\.50"/)
  expect(without).toMatch(/^HTTP\/1\.1 401 [\s\S]+\nWWW-Authenticate: Bearer realm="/)
  expect(wrong).toMatch(/^HTTP\/1\.1 403 [\s\S]+\nContent-Length: 0\r\n[\s\S]+\r\n\r\n\n$/)
  expect(scopeless).toMatch(/^HTTP\/1\.1 403 [\s\S]+error="insufficient_scope"/)
})

test('hello prints lines that work in bash: sign in, then call a guarded route', async () => {
  const port = await freePort()
  const { printed, output } = watch(launch(process.execPath, [built('hello')], { PORT: `${port}` }))
  await printed('$TOKEN"\n')
  const lines = output().slice(output().indexOf('TOKEN='))
  const { stdout, code } = await bash(lines)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]+\r\n\r\n\{"hello":"acc-1"\}$/)
  const busy = await finish(launch(process.execPath, [built('hello')], { PORT: `${port}` }), '')
  expect(busy).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EADDRINUSE') })
  const { stdout: refused } = await bash(lines.replace('correct horse', 'wrong'))
  expect(refused).toMatch(/^HTTP\/1\.1 40[01] /)
})
