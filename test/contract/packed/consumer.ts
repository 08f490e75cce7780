import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { ACCOUNTS, PASSWORD, SECRET } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'

const ENV = { PATH: process.env['PATH'], EMAIL: ACCOUNTS.alice.email, PASSWORD, TOKEN_SECRET: SECRET }

/** Runs a consumer's program on this Node until the test is over, and gives its address. */
async function start(program: string): Promise<string> {
  const child = spawn(process.execPath, [program], { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] })
  const errors = text(child.stderr)
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  for await (const port of createInterface({ input: child.stdout })) return `http://127.0.0.1:${port}`
  return expect.fail(`${program} has not started: ${await errors}`)
}

/** A consumer issues a token over HTTP, lets it through to its guarded route `/me`, and nothing else. */
export async function expectWorks(program: string): Promise<void> {
  const url = await start(program)
  const login = (password: string) =>
    fetch(url + TOKEN_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: ACCOUNTS.alice.email, password }),
    })
  const me = (headers: Record<string, string>) => fetch(`${url}/me`, { headers })

  const wrong = await login('not this one')
  expect([wrong.status, await wrong.text()]).toEqual([403, ''])
  const right = await login(PASSWORD)
  expect(right.status).toBe(200)
  const { authenticationToken } = (await right.json()) as { authenticationToken: string }

  const guarded = await me({ Authorization: `Bearer ${authenticationToken}` })
  expect([guarded.status, await guarded.json()]).toEqual([200, expect.objectContaining({ account: 'acc-1' })])
  expect((await me({})).status).toBe(401)
  expect((await me({ Authorization: `Bearer ${authenticationToken}x` })).status).toBe(401)
}
