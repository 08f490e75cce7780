import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { ServiceName } from '../../example-app/processes/service.js'

export const TOKEN_PATH = '/api/v2013/authentication/token'
export const SIGN_OUT_PATH = '/api/v2013/sign-out'
export const NORTH = '/api/v2013/houses/north/statements'
export const REPORT = '/api/v2013/reports/daily-totals'
export const SOUTH = '/api/v2013/houses/south/statements'

export const ALICE = { email: 'alice@example.com', password: 'alice-demo-password' }
export const BOB = { email: 'bob@example.com', password: 'bob-demo-password' }

/** Where the example app is; its `dist` has to be built. */
export const FOLDER = fileURLToPath(new URL('../../example-app', import.meta.url))

export type Env = Record<string, string>

/** A folder that is gone when the test is over. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'example-app-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

/** Runs a program of the built example to its end. */
export async function run(program: string, args: readonly string[], env: Env, input: string | Uint8Array = '') {
  return finish(launch(process.execPath, [built(program), ...args], env), input)
}

/** Runs lines in bash, as if pasted. */
export async function bash(lines: string) {
  return finish(launch('bash', [], {}), lines)
}

/** What a process prints, and how it ends, when this is its standard input. */
export async function finish(child: ChildProcess, input: string | Uint8Array) {
  // A program that refuses its arguments is gone before it reads.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const [stdout, stderr, exit] = await Promise.all([outputOf(child.stdout), outputOf(child.stderr), exitOf(child)])
  return { stdout, stderr, ...exit }
}

export interface Running {
  url: string
  pid: number
  /** What it has printed so far, to both streams. */
  output: () => string
  /** Resolves once it has printed this. */
  printed: (wanted: string) => Promise<void>
  kill: (signal: NodeJS.Signals) => void
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Starts one API of the built example on a free port, and waits until it listens. */
export async function start(env: Env, name: ServiceName = 'clearing-house'): Promise<Running> {
  const { url, ...running } = await startProgram(env, [name])
  return { url: url(1), ...running }
}

export interface RunningPair extends Running {
  /** Where the reporting API is. */
  reporting: string
}

/** Starts both, as `npm start` does. */
export async function startBoth(env: Env): Promise<RunningPair> {
  const { url, ...running } = await startProgram(env, [])
  return { url: url(1), reporting: url(2), ...running }
}

async function startProgram(env: Env, args: readonly string[]) {
  const child = launch(process.execPath, [built('main'), ...args], { PORT: '0', REPORTING_PORT: '0', ...env })
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
  await printed('(Ctrl-C stops ')
  await printed('.\n')
  const url = (nth: number) => output.match(/http:[^\s,]+/g)?.[nth - 1] ?? ''
  const pid = child.pid ?? 0
  return { url, pid, output: () => output, printed, exit, kill: (signal: NodeJS.Signals) => child.kill(signal) }
}

const built = (program: string) => join(FOLDER, 'dist', `${program}.js`)

/** Starts a process with pipes around it and no other environment. It is gone when the test is over. */
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

/** Asks for a token, and gives the whole answer. */
export function login(url: string, credentials: { email: string; password: string }): Promise<Response> {
  return fetch(url + TOKEN_PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
    signal: patience(),
  })
}

/** A connection that a process took along when it was killed is never answered: to be tried again, it has to end. */
export const patience = () => AbortSignal.timeout(8000)

export async function tokenFrom(url: string, credentials: { email: string; password: string }): Promise<string> {
  const answer = (await (await login(url, credentials)).json()) as { authenticationToken: string }
  return answer.authenticationToken
}

export async function statusOf(url: string, token: string): Promise<number> {
  return (await fetch(url, { headers: { Authorization: `Bearer ${token}` }, signal: patience() })).status
}

/** The processes that a process has started, those behind them included; of Linux alone. */
export async function descendants(pid: number): Promise<{ pid: number; parent: number; command: string }[]> {
  const child = spawn('ps', ['-e', '-o', 'pid=,ppid=,args='], { stdio: ['ignore', 'pipe', 'ignore'] })
  const all = (await text(child.stdout)).split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^ *(\d+) +(\d+) (.*)/.exec(line) ?? []
    return pid ? [{ pid: Number(pid), parent: Number(parent), command }] : []
  })
  const below = (parent: number): typeof all =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return below(pid)
}

/** A login that the server has begun to answer: it waits for the body, which the returned function sends. */
export async function loginInFlight(url: string, email = ALICE.email): Promise<() => Promise<Answer>> {
  const body = JSON.stringify({ ...ALICE, email })
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Expect: '100-continue',
  }
  const req = request(url + TOKEN_PATH, { method: 'POST', headers, agent: false })
  req.flushHeaders()
  await once(req, 'continue')
  req.on('error', () => {})
  // Not its error: that may be over before anybody asks for the answer.
  const gone = once(req, 'close').then((): never => {
    throw new Error('the connection is gone')
  })
  gone.catch(() => {})
  return () => answerTo(req, gone, body)
}

interface Answer {
  status: number | undefined
  connection: string | undefined
  body: string
}

async function answerTo(req: ClientRequest, gone: Promise<never>, body: string): Promise<Answer> {
  req.end(body)
  const [res] = (await Promise.race([once(req, 'response'), gone])) as [IncomingMessage]
  return { status: res.statusCode, connection: res.headers.connection, body: await text(res) }
}
