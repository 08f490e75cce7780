import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createTokenClient } from 'express-token-endpoint/client'
import { expect, onTestFinished } from 'vitest'

export const TOKEN_PATH = '/api/v2013/authentication/token'
export const SIGN_OUT_PATH = '/api/v2013/sessions/sign-out'
export const NORTH = '/api/v2013/houses/north/statements'
export const REPORT = '/api/v2013/reports/daily-totals'
export const SOUTH = '/api/v2013/houses/south/statements'

export const ALICE = { email: 'alice@example.com', password: 'alice-demo-password' }
export const BOB = { email: 'bob@example.com', password: 'bob-demo-password' }

/** Folder of the example app. Run `npm run build:example` before the tests. */
export const FOLDER = fileURLToPath(new URL('../../example-app', import.meta.url))

export type Env = Record<string, string>

/** Creates a folder, and removes it when the test is over. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'example-app-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

/** Runs a program of the built example until it exits. */
export async function run(program: string, args: readonly string[], env: Env, input: string | Uint8Array = '') {
  return finish(launch(process.execPath, [built(program), ...args], env), input)
}

/** Sends the input to a process. Returns its output and its exit code or signal. */
export async function finish(child: ChildProcess, input: string | Uint8Array) {
  // A program that refuses its arguments exits before it reads.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const [stdout, stderr, exit] = await Promise.all([outputOf(child.stdout), outputOf(child.stderr), exitOf(child)])
  return { stdout, stderr, ...exit }
}

export interface Running {
  /** Address of the first API. */
  url: string
  /** Address of the reporting API, if both APIs run. */
  reporting: string
  /** Returns everything that the process has printed so far, to both streams. */
  output: () => string
  /** Resolves when the process has printed this text. */
  printed: (wanted: string) => Promise<void>
  kill: (signal: NodeJS.Signals) => void
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/**
 * Starts one API of the built example, and waits until it listens. The port is free unless `env` sets it.
 * @param api `clearing-house` or `reporting`, with a port if needed: `reporting:3010`
 */
export const start = (env: Env, api = 'clearing-house'): Promise<Running> => startProgram(env, [api])

/** Starts both APIs, as `npm start` does. */
export const startBoth = (env: Env): Promise<Running> => startProgram(env, [])

async function startProgram(env: Env, args: readonly string[]): Promise<Running> {
  const running = watch(launch(process.execPath, [built('main'), ...args], { PORT: '0', REPORTING_PORT: '0', ...env }))
  await running.printed('(Ctrl-C stops ')
  await running.printed('.\n')
  const [url = '', reporting = ''] = running.output().match(/http:[^\s,]+/g) ?? []
  return { ...running, url, reporting }
}

/** Collects the output of a process. */
export function watch(child: ChildProcess): Omit<Running, 'url' | 'reporting'> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      child.emit('printed')
    })
  }
  const exit = exitOf(child)
  const printed = async (wanted: string) => {
    while (!output.includes(wanted)) {
      const gone = await Promise.race([once(child, 'printed').then(() => false), exit.then(() => true)])
      if (gone && !output.includes(wanted)) throw new Error(`exited without printing "${wanted}":\n${output}`)
    }
  }
  return { output: () => output, printed, exit, kill: (signal) => child.kill(signal) }
}

/** Returns the path of a built program. */
export const built = (program: string) => join(FOLDER, 'dist', `${program}.js`)

/** Starts a process with pipes and with only this environment. Kills the process when the test is over. */
export function launch(command: string, args: readonly string[], env: Env): ChildProcess {
  const { PATH } = process.env
  const child = spawn(command, args, { env: { ...(PATH && { PATH }), ...env }, stdio: 'pipe' })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}

async function exitOf(child: ChildProcess) {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return { code, signal }
}

const outputOf = (stream: NodeJS.ReadableStream | null) => (stream ? text(stream) : '')

/** Sends a login. Returns the whole response. */
export function login(url: string, credentials: { email: string; password: string }): Promise<Response> {
  return fetch(url + TOKEN_PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  })
}

export const tokenFrom = (url: string, credentials: { email: string; password: string }): Promise<string> =>
  createTokenClient({ url, credentials: () => credentials }).token()

export async function statusOf(url: string, token: string): Promise<number> {
  return (await fetch(url, { headers: { Authorization: `Bearer ${token}` } })).status
}

/** Starts a login whose body is still missing. The returned function sends the body and returns the response. */
export async function loginInFlight(url: string, email = ALICE.email) {
  const body = JSON.stringify({ ...ALICE, email })
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Expect: '100-continue',
  }
  const req = request(url + TOKEN_PATH, { method: 'POST', headers, agent: false })
  const response = once(req, 'response') as Promise<[IncomingMessage]>
  response.catch(() => {})
  req.flushHeaders()
  await once(req, 'continue')
  return async () => {
    req.end(body)
    const [res] = await response
    return { status: res.statusCode, connection: res.headers.connection, body: await text(res) }
  }
}

/** Ends the session of a token. Returns the status. */
export async function signOut(url: string, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` }
  return (await fetch(url + SIGN_OUT_PATH, { method: 'POST', headers })).status
}

/** Asks the process to stop, and expects that it exits with 0. */
export async function stop({ kill, exit }: Running): Promise<void> {
  kill('SIGTERM')
  expect(await exit).toEqual({ code: 0, signal: null })
}
