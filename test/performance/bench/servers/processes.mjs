import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { availableParallelism, loadavg } from 'node:os'

export const TOKEN_PATH = '/api/v2013/authentication/token'

export const say = (line) => process.stdout.write(`${line}\n`)

/** What a measurement was taken on, and beside what. */
export const sayWhere = () =>
  say(
    `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()
      .map((load) => load.toFixed(2))
      .join(' ')}`,
  )

/** Starts a file in its own process, and waits for its first message. */
export async function start(file, options = {}) {
  const child = fork(file, options.args ?? [], {
    execArgv: options.execArgv ?? [],
    env: options.env ?? process.env,
    silent: options.silent ?? false,
    serialization: 'advanced',
  })
  const answer = async () => {
    const settled = new AbortController()
    const died = once(child, 'exit', settled).then(([code]) => {
      throw new Error(`${file} ended with ${code}`)
    })
    try {
      return (await Promise.race([once(child, 'message', settled), died]))[0]
    } finally {
      died.catch(() => {})
      settled.abort()
    }
  }
  const first = await answer()
  const ask = (question) => {
    child.send(question)
    return answer()
  }
  return { child, first, ask }
}

/** A client that keeps its connections. */
export function client(port, connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return ({ method = 'GET', path, headers, body }) =>
    new Promise((resolve, reject) => {
      const started = performance.now()
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
      const req = request(
        { host: '127.0.0.1', port, agent, method, path, headers: { ...length, ...headers } },
        (res) => {
          let text = ''
          res.setEncoding('utf8')
          res.on('data', (chunk) => {
            text += chunk
          })
          res.on('end', () =>
            resolve({ status: res.statusCode, headers: res.headers, body: text, ms: performance.now() - started }),
          )
          res.on('error', reject)
        },
      )
      req.on('error', reject)
      req.end(body)
    })
}

export const login = (email, password, address) => ({
  method: 'POST',
  path: TOKEN_PATH,
  headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
  body: JSON.stringify({ email, password }),
})

export const fixed = (value) => value.toFixed(2)
export const seconds = (n) => new Promise((resolve) => setTimeout(resolve, n * 1000))
