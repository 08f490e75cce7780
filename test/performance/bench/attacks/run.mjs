// npm run bench:attacks [-- package plain]: what attacks do to the people who use the app, for this package and for a plain Express app.
import { bearer, createClient, login, requestText } from '../../../support/plain-js/http-client.mjs'
import { withOtherSignature } from '../../../support/plain-js/token-forger.mjs'
import { fixed, say, sayWhere, seconds, start } from '../../processes.mjs'
import { median, quantile } from '../../stats.mjs'
import { table } from '../report/table.mjs'
import { PASSWORD } from './names.mjs'

const kinds = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ['package', 'plain']
const LENGTH = 5

const owner = (email = 'known999@example.com', address = '198.51.100.7') => login(email, PASSWORD, address)
/** Runs `during` while `connections` connections send each of `texts` again and again. */
async function underAttack({ port, connections, texts, perText }, during) {
  const { fork } = await import('node:child_process')
  const { once } = await import('node:events')
  const child = fork(new URL('attacker.mjs', import.meta.url))
  child.send({ port, connections, texts, perText })
  await once(child, 'message')
  await seconds(0.5)
  const result = await during()
  child.send('stop')
  const [answered] = await once(child, 'message')
  child.disconnect()
  return { ...result, answered }
}

async function timesOf(ask, forSeconds, pauseMs) {
  const times = []
  const end = performance.now() + forSeconds * 1000
  while (performance.now() < end) {
    const { status, ms } = await ask()
    if (status !== 200) throw new Error(`answered ${status}`)
    times.push(ms)
    await seconds(pauseMs / 1000)
  }
  return times
}

/** Logs in `count` times, one after the other. Returns the number of successes at the first attempt, and the slowest time. */
async function logins(send, count, sent) {
  const answers = []
  for (let i = 0; i < count; i++) {
    answers.push(await send(sent(i)))
    await seconds(0.05)
  }
  const good = answers.filter(({ status }) => status === 200)
  return `${good.length} of ${count}, at most ${Math.round(Math.max(...answers.map(({ ms }) => ms)))} ms`
}

const guessers = (count, each = 1) =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: each }, (_, j) =>
      requestText(login(`known${(i * 7 + j) % 900}@example.com`, `guess ${i} ${j}`, `10.0.${i >> 8}.${i & 255}`)),
    ).join(''),
  )

const LOADS = {
  async crowd({ port }) {
    const results = []
    for (const [count, oneAddress] of [
      [400, false],
      [200, false],
      [400, true],
    ]) {
      const { send } = createClient(port, { connections: count })
      const started = performance.now()
      const answers = await Promise.all(
        Array.from({ length: count }, (_, i) =>
          send(owner(`known${i}@example.com`, oneAddress ? '198.51.100.8' : `192.0.2.${i % 256}`)),
        ),
      )
      const good = answers.filter(({ status }) => status === 200).length
      const took = (performance.now() - started) / 1000
      results.push([
        `${count} people sign in at once, ${oneAddress ? 'one address' : 'many addresses'}`,
        `${good} in ${fixed(took)} s`,
      ])
    }
    return results
  },
  async guessers({ port, guarded }) {
    const { send } = createClient(port, { connections: 4 })
    const quiet = await timesOf(() => send(guarded), 2, 5)
    const results = [['guarded route, quiet, p99', `${fixed(quantile(quiet, 0.99))} ms`]]
    const { answered } = await underAttack({ port, connections: 256, texts: guessers(256), perText: 1 }, async () => {
      const times = timesOf(() => send(guarded), LENGTH, 5)
      results.push([
        '256 addresses guess: the owner signs in',
        await logins(createClient(port, { connections: 1 }).send, 12, () => owner()),
      ])
      results.push(['… guarded route, p99', `${fixed(quantile(await times, 0.99))} ms`])
      return { since: performance.now() }
    })
    results.push(['… guesses answered', `${answered}`])
    return results
  },
  async loop({ port }) {
    const texts = Array.from({ length: 7 }, (_, i) => requestText(owner(`known${i}@example.com`, '203.0.113.5')))
    const results = []
    await underAttack({ port, connections: 7, texts, perText: 1 }, async () => {
      results.push([
        'one address signs in to 7 accounts: another signs in',
        await logins(createClient(port, { connections: 1 }).send, 20, () => owner()),
      ])
    })
    const pipelined = Array.from({ length: 16 }, (_, i) =>
      requestText(owner(`known${i}@example.com`, '203.0.113.5')).repeat(50),
    )
    await underAttack({ port, connections: 16, texts: pipelined, perText: 50 }, async () => {
      results.push([
        '… pipelined 16 × 50',
        await logins(createClient(port, { connections: 1 }).send, 20, () => owner()),
      ])
    })
    return results
  },
  async retry({ port }) {
    let done = 0
    let slowest = 0
    await underAttack({ port, connections: 128, texts: guessers(128), perText: 1 }, async () => {
      const { send } = createClient(port, { connections: 1 })
      for (let i = 0; i < 20; i++) {
        const started = performance.now()
        for (;;) {
          const { status, headers } = await send(owner())
          const took = performance.now() - started
          if (status === 200 && took <= 10_000) {
            done++
            slowest = Math.max(slowest, took)
          }
          if (status === 200 || took > 10_000) break
          await seconds(Number(headers['retry-after'] ?? 1))
        }
      }
    })
    return [
      ['128 addresses guess: a client that honours Retry-After', `${done} of 20, at most ${Math.round(slowest)} ms`],
    ]
  },
  async pipelined({ kind }) {
    /** Measures the memory growth of a new process that has served 110 logins. */
    const grow = async (sent) => {
      const { child, first: port, ask } = await start(new URL('server.mjs', import.meta.url), { args: [kind] })
      const { send } = createClient(port, { connections: 4 })
      for (let i = 0; i < 110; i++) await send(login(`known${i}@example.com`, 'guess', '203.0.113.9'))
      const { rss } = await ask('memory')
      const texts = [requestText(sent).repeat(400)]
      const { answered } = await underAttack({ port, connections: 16, texts, perText: 400 }, async () => {
        await seconds(2 * LENGTH)
        return {}
      })
      const { most } = await ask('memory')
      child.disconnect()
      return `+${Math.round(most - rss)} MB, ${Math.round(answered / LENGTH / 2)}/s`
    }
    const throttled = login('known0@example.com', 'guess', '203.0.113.9')
    return [
      ["16 connections pipeline to Express's 404: memory", await grow({ ...throttled, path: '/nothing' })],
      ['one throttled address pipelines on 16 connections: memory', await grow(throttled)],
    ]
  },
  async forged({ port, guarded, token }) {
    const results = []
    for (const [connections, length] of [
      [16, false],
      [16, true],
      [64, false],
      [64, true],
    ]) {
      const { send: signIn } = createClient(port, { connections: 8 })
      const logins = await Promise.all(
        Array.from({ length: 40 }, (_, i) => signIn(owner(`known${i}@example.com`, `192.0.2.${i}`))),
      )
      const fresh = logins.map(({ body }) => JSON.parse(body).authenticationToken)
      const texts = Array.from({ length: connections }, (_, c) =>
        Array.from({ length: 60 }, (_, i) => {
          const sent = bearer(withOtherSignature(token, c * 60 + i), '/guarded')
          return requestText(length ? { ...sent, body: '' } : sent)
        }).join(''),
      )
      const times = { known: [], fresh: [] }
      const { answered } = await underAttack({ port, connections, texts, perText: 60 }, async () => {
        const { send } = createClient(port, { connections: 1 })
        const end = performance.now() + LENGTH * 1000
        while (performance.now() < end) {
          times.known.push((await send(guarded)).ms)
          const next = fresh.pop()
          if (next) times.fresh.push((await send(bearer(next, '/guarded'))).ms)
        }
        return {}
      })
      const name = `forged tokens, ${connections} × 60${length ? ', Content-Length: 0' : ''}`
      results.push([
        `${name}: p50 of a valid token`,
        `${fixed(median(times.known))} ms (${Math.round(answered / LENGTH)} forged/s)`,
      ])
      results.push(['… of a valid token that comes for the first time', `${fixed(median(times.fresh))} ms`])
    }
    return results
  },
}

sayWhere()
const only = process.env.LOADS?.split(',') ?? Object.keys(LOADS)
const rows = new Map()
for (const kind of kinds) {
  for (const name of only) {
    const server = await start(new URL('server.mjs', import.meta.url), { args: [kind] })
    const port = server.first
    const signedIn = await createClient(port, { connections: 1 }).send(owner())
    const token = JSON.parse(signedIn.body).authenticationToken
    const guarded = bearer(token, '/guarded')
    for (const [index, [load, result]] of (await LOADS[name]({ kind, port, server, token, guarded })).entries()) {
      say(`${kind}: ${load}: ${result}`)
      rows.set(`${name} ${index}`, { load, ...rows.get(`${name} ${index}`), [kind]: result })
    }
    server.child.disconnect()
  }
}
say(
  `\n${table(
    ['load', ...kinds],
    [...rows.values()].map((row) => [row.load, ...kinds.map((kind) => row[kind] ?? '')]),
  )}`,
)
