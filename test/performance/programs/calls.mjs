// The guards of the part `call`, in a process of the measured Node. Sends the rounds: microseconds of a call, by name.
import { checkGuard, createEnvironment, FLOOR, OURS } from '../guards.mjs'
import { inRounds } from '../harness/statistics.mjs'
import { isFastest } from '../peers/guards.mjs'

/** Requests that are created together, and then measured. They are still young then, as on a server. */
const TOGETHER = 500
/** Microseconds of calls in a round. */
const LEAST = 30_000

/** A request with the members that the guards use. Its header is a new text, as from Node's parser. */
const requestOf = (header) => {
  const authorization = header.toString('latin1')
  const headers = { host: 'localhost:3000', accept: '*/*', authorization, connection: 'keep-alive' }
  return {
    method: 'GET',
    url: '/mine',
    originalUrl: '/mine',
    protocol: 'http',
    query: {},
    ip: '127.0.0.1',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    get: (name) => headers[name.toLowerCase()],
    is: () => false,
  }
}

const responseOf = (end) => ({ statusCode: 200, headersSent: false, setHeader() {}, end })
const headerOf = (token) => Buffer.from(`Bearer ${token}`, 'latin1')

const isAccepted = (guard) => (token) =>
  new Promise((resolve) => {
    guard(
      requestOf(headerOf(token)),
      responseOf(() => resolve(false)),
      (error) => resolve(error === undefined),
    )
  })

/** Calls a guard with one request after the other. Returns the microseconds of processor time. */
async function timeOf({ name, guard }, requests) {
  const response = responseOf(() => {
    throw new Error(`${name}: refused a good token`)
  })
  const used = process.cpuUsage()
  for (const request of requests) {
    let called = false
    let resume
    guard(request, response, (error) => {
      if (error) throw error
      called = true
      resume?.()
    })
    if (!called)
      await new Promise((resolve) => {
        resume = resolve
      })
  }
  const { user, system } = process.cpuUsage(used)
  return user + system
}

async function microsecondsOf(variant) {
  let calls = 0
  let time = 0
  while (time < LEAST) {
    const requests = Array.from({ length: TOGETHER }, () => requestOf(variant.next()))
    time += await timeOf(variant, requests)
    calls += TOGETHER
  }
  return time / calls
}

const one = await createEnvironment('HS256')
const thousand = await createEnvironment('HS256', { count: 1000 })
const uncached = await createEnvironment('HS256', { options: { cache: false } })
const variantOf = (name, { tokens, guards, samples }, guard = guards[name]) => {
  const headers = tokens.map(headerOf)
  let at = 0
  return { name, guard, samples, next: () => headers[at++ % headers.length] }
}
const variants = [
  ...[OURS, FLOOR, ...Object.keys(one.guards).filter(isFastest).slice(2)].map((name) => variantOf(name, one)),
  variantOf(`${OURS}, 1,000 tokens in turn`, thousand, thousand.guards[OURS]),
  variantOf(`${OURS}, a new token`, uncached, uncached.guards[OURS]),
]
for (const { name, guard, samples } of variants) await checkGuard(name, isAccepted(guard), samples)
// The first round only warms up.
const rounds = await inRounds(Number(process.argv[2]) + 1, variants, microsecondsOf)
process.send(rounds.slice(1))
process.disconnect()
