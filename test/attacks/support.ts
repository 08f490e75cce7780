export { unhandledRejections } from '../support/host.js'

import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { TOKEN_PATH } from '../support/http.js'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface Sent {
  method?: string
  path?: string
  headers?: OutgoingHttpHeaders
  body?: string
  /** Aborting it hangs up. */
  signal?: AbortSignal
}

export type Send = (sent: Sent) => Promise<Answer>

/** A client that keeps its connections; requests beyond them wait for their turn. Rejects when a connection is reset. */
export function client(port: number, connections = 50): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  onTestFinished(() => agent.destroy())
  return ({ method = 'POST', path = TOKEN_PATH, headers = {}, body = '', signal }) =>
    new Promise((resolve, reject) => {
      const length = { 'Content-Length': Buffer.byteLength(body) }
      const options = { host: '127.0.0.1', port, agent, method, path, headers: { ...length, ...headers } }
      const req = request({ ...options, ...(signal && { signal }) }, (res) => {
        let text = ''
        res.setEncoding('utf8')
        res.on('data', (chunk: string) => {
          text += chunk
        })
        res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text }))
        res.on('error', reject)
      })
      req.on('error', reject)
      req.end(body)
    })
}

/**
 * Sends many requests as fast as a server takes them, one behind the other on a few connections, and gives the heads of
 * their answers. Rejects when a connection is lost before all are there.
 */
export async function flood(port: number, count: number, of: (i: number) => Sent, connections = 8): Promise<Answer[]> {
  const share = Math.ceil(count / connections)
  const answers = await all(connections, (c) => {
    const first = c * share
    return pipeline(
      port,
      Array.from({ length: Math.min(share, count - first) }, (_, i) => of(first + i)),
    )
  })
  return answers.flat()
}

function pipeline(port: number, requests: readonly Sent[]): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const answers: Answer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(requests.map(asText).join('')))
    onTestFinished(() => void socket.destroy())
    let rest = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      const [read, behind] = readAnswers(rest + chunk)
      answers.push(...read)
      rest = behind
      if (answers.length === requests.length) socket.end(() => resolve(answers))
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${answers.length} of ${requests.length} answers`)))
  })
}

function asText({ method = 'POST', path = TOKEN_PATH, headers = {}, body = '' }: Sent): string {
  const fields = Object.entries({ Host: 'x', 'Content-Length': Buffer.byteLength(body), ...headers })
  return `${method} ${path} HTTP/1.1\r\n${fields.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n${body}`
}

/** The whole answers at the start of a text, and what is left of it. Each says how long it is. */
function readAnswers(text: string): [Answer[], string] {
  const answers: Answer[] = []
  for (let start = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', start) + 4
    const [status = '', ...fields] = text.slice(start, end - 4).split('\r\n')
    const headers = Object.fromEntries(
      fields.map((field) => [field.replace(/:.*/, '').toLowerCase(), field.replace(/^[^:]*: /, '')]),
    )
    const next = end + Number(headers['content-length'])
    if (end < 4 || next > text.length) return [answers, text.slice(start)]
    answers.push({ status: Number(status.split(' ')[1]), headers, body: text.slice(end, next) })
    start = next
  }
}

export const JSON_TYPE = { 'Content-Type': 'application/json' }

/** A login, from an address that the app sees behind its proxy. */
export function login(email: string, password: string, address = '192.0.2.1', path = TOKEN_PATH): Sent {
  return { path, headers: { ...JSON_TYPE, 'X-Forwarded-For': address }, body: JSON.stringify({ email, password }) }
}

export const bearer = (token: string, path: string): Sent => ({
  method: 'GET',
  path,
  headers: { Authorization: `Bearer ${token}` },
})

export const all = <T>(count: number, ask: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)))

/** How many of each there are. */
export function tally(values: Iterable<string | number>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

export const statuses = (answers: readonly Answer[]) => tally(answers.map(({ status }) => status))

/** Lets all that is ready run: promises, and the rejections that nobody handled. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}

/** A promise with its ends in hand. */
export function deferred<T>() {
  let resolve = (_: T) => {}
  let reject = (_: unknown) => {}
  const promise = new Promise<T>((res, rej) => {
    resolve = res
    reject = rej
  })
  return { promise, resolve, reject }
}
