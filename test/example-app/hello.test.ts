import { expect, test } from 'vitest'
import { freePort } from '../support/services/redis.js'
import { bash, built, finish, launch, watch } from './support.js'

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
