// Serves routes whose guards have one verifier and five. A message lets it measure the guards in this process.
import express from 'express'
import { createTokenIssuer, requireBearer } from 'express-token-endpoint'
import { inRounds } from '../harness/statistics.mjs'
import { microsecondsOf, respond, serve } from './serve.mjs'

const TOKENS = 500

/** Creates five issuers, tokens of the first one and of all, and a guard for each list. */
async function variantsOf(cache) {
  const issuers = Array.from({ length: 5 }, (_, i) =>
    createTokenIssuer({ issuer: `https://${i}.example.com`, keys: { alg: 'HS256', secret: `${i}`.repeat(32) }, cache }),
  )
  const issue = (list) =>
    Promise.all(
      Array.from({ length: TOKENS }, async (_, i) => (await list[i % list.length].issue({ accountId: 'acc-1' })).token),
    )
  return {
    one: { tokens: await issue(issuers.slice(0, 1)), guard: requireBearer({ tokens: issuers[0] }) },
    five: { tokens: await issue(issuers), guard: requireBearer({ tokens: issuers }) },
  }
}

const cached = await variantsOf(10_000)
const uncached = await variantsOf(false)

const requestsOf = (tokens) =>
  tokens.map((token) => {
    const authorization = `Bearer ${token}`
    return { headers: { authorization }, rawHeaders: ['Authorization', authorization], url: '/', socket: {} }
  })

/** Returns a function for one request after the other, as Express calls the guard. */
function callerOf({ tokens, guard }) {
  const requests = requestsOf(tokens)
  return (i) =>
    new Promise((resolve, reject) => guard(requests[i % TOKENS], {}, (error) => (error ? reject(error) : resolve())))
}

/** The look-up that a list of verifiers adds: the end of a token is the key. */
function lookUp() {
  const holders = new Map(cached.five.tokens.map((token) => [token.slice(-16), { token }]))
  const requests = requestsOf(cached.five.tokens)
  return async (i) => holders.get(requests[i % TOKENS].headers.authorization.slice(-16)).token
}

const IN_PROCESS = [
  { name: 'nothing', call: async (i) => i },
  { name: 'a look-up', call: lookUp() },
  { name: 'cached, one', call: callerOf(cached.one) },
  { name: 'cached, five', call: callerOf(cached.five) },
  { name: 'new, one', call: callerOf(uncached.one) },
  { name: 'new, five', call: callerOf(uncached.five) },
]

/** Returns the nanoseconds of processor time of a call. */
const measure = async ({ call }) => (await microsecondsOf(50_000, call)) * 1000

process.on('message', async (rounds) => {
  await inRounds(3, IN_PROCESS, measure)
  process.send(await inRounds(rounds, IN_PROCESS, measure))
})
const app = express()
for (const [name, { guard }] of Object.entries(cached)) app.get(`/${name}`, guard, respond)
serve(app, { one: cached.one.tokens, five: cached.five.tokens })
