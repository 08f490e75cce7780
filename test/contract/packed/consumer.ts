import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { ACCOUNTS, PASSWORD, SECRET } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'
import type { Runtime } from '../../support/runner/only-runtime.js'

/** The environment of a consumer. */
export const CONSUMER_ENV = { EMAIL: ACCOUNTS.alice.email, PASSWORD, TOKEN_SECRET: SECRET }

/** A command that runs programs, and its arguments before the file. */
export type Command = Pick<Runtime, 'program' | 'args'>

const NODE: Command = { program: process.execPath, args: [] }

export interface Started {
  url: string
  port: number
  stop(): Promise<void>
}

/** Starts a consumer's program, which prints its port. */
export async function start(program: string, { command = NODE, env = {} } = {}): Promise<Started> {
  const args = [...command.args, program]
  const child = spawn(command.program, args, {
    env: { PATH: process.env['PATH'], ...CONSUMER_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = text(child.stderr)
  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  for await (const port of createInterface({ input: child.stdout })) {
    return { url: `http://127.0.0.1:${port}`, port: Number(port), stop }
  }
  return expect.fail(`${program} has not started: ${await errors}`)
}

/** A consumer issues a token over HTTP, lets it through to its guarded route `/me`, and nothing else. */
export async function expectWorks(program: string, command = NODE): Promise<void> {
  const { url, stop } = await start(program, { command })
  onTestFinished(stop)
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
