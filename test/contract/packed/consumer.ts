import { execFile, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { ACCOUNTS, PASSWORD, SECRET } from '../../support/fixtures.js'
import { asJson, expectForbidden, expectToken, GOOD, send } from '../../support/host.js'
import { bearer } from '../../support/http.js'
import type { Runtime } from '../../support/runner/only.js'
import { end } from '../../support/services/servers/children.mjs'

/** Returns a program that prints, for each entry, the exports which are not the same by `import` and by `require`. */
export const differences = (entries: readonly string[]) => `
  Promise.all(${JSON.stringify(entries)}.map(async (entry) => {
    const [imported, required] = [await import(entry), require(entry)]
    const names = Object.keys({ ...imported, ...required })
    return names.filter((name) => !(name in imported && imported[name] === required[name]))
  })).then((found) => console.log(JSON.stringify(found)))`

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
  const child = spawn(command.program, [...command.args, program], {
    env: { PATH: process.env['PATH'], ...CONSUMER_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = text(child.stderr)
  const stop = () => end(child, 'SIGKILL')
  for await (const port of createInterface({ input: child.stdout })) {
    return { url: `http://127.0.0.1:${port}`, port: Number(port), stop }
  }
  return expect.fail(`${program} has not started: ${await errors}`)
}

/**
 * A consumer issues a token over HTTP, lets it through to its guarded route `/me`, and nothing else. The program `client` next to
 * it does so with the package's own client.
 */
export async function expectWorks(program: string, command = NODE): Promise<void> {
  const { url, port, stop } = await start(program, { command })
  onTestFinished(stop)
  expectForbidden(await send(port, asJson({ ...GOOD, password: 'not this one' })))
  const { authenticationToken: token } = expectToken(await send(port, asJson(GOOD)))
  const guarded = await send(port, bearer(token, '/me'))
  expect([guarded.status, JSON.parse(guarded.body)]).toEqual([200, expect.objectContaining({ account: 'acc-1' })])
  expect((await send(port, { method: 'GET', path: '/me' })).status).toBe(401)
  expect((await send(port, bearer(`${token}x`, '/me'))).status).toBe(401)

  const client = program.replace(/main(?=\.\w+$)/, 'client')
  const { stdout } = await promisify(execFile)(command.program, [...command.args, client, url], {
    env: { PATH: process.env['PATH'], ...CONSUMER_ENV },
  })
  const { restored = true, kept = 0, ...me } = JSON.parse(stdout)
  expect([restored, kept, me]).toEqual([true, 0, expect.objectContaining({ account: 'acc-1' })])
}
