import { createHmac } from 'node:crypto'
import { bearer, JSON_TYPE, login } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { startServer } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { inRounds } from '../harness/statistics.mjs'
import { summaryOf, underAttack } from './floods.mjs'

/** The sessions of a round. More than its refreshes, so that each refresh replaces a refresh token. */
const SESSIONS = 8000
const SLICES = { connections: 16, slice: 60, slices: 12, warmUp: 200 }
const TARGET = 3

const addressOf = (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
const refreshOf = (path) => (refreshToken, i) => ({
  path: `${path}/refresh`,
  headers: { ...JSON_TYPE, 'X-Forwarded-For': addressOf(i) },
  body: JSON.stringify({ refreshToken }),
})

const forged = Array.from(
  { length: 960 },
  (_, i) =>
    `019b76da-a9f4-7aee-863f-5b5b46d9f48a.${i}.${createHmac('sha256', 'other').update(`${i}`).digest('base64url')}`,
)

/** Floods like those of the part `floods`. The second one shows what Express itself costs. */
const FLOODS = {
  'forged refresh tokens, 64 × 60': forged.map(refreshOf('/api/v2013/authentication/token')),
  "Express's own 404, 64 × 60": forged.map(refreshOf('/nothing')),
}

export const title =
  'A refresh, compared with a login without its hash and with a guarded request; a flood of forged refresh tokens'

export async function run({ node, rounds }) {
  const rows = await alternately(
    async () => {
      const server = await startServer('refresh-server.mjs', { args: [SESSIONS], node })
      const { side, stop, emails, tokens, refreshTokens } = server
      const sides = [
        side(
          'a guarded request with `sessions`',
          tokens.map((token) => bearer(token, '/guarded')),
        ),
        side(
          'a login with a session and a refresh token, without its hash',
          emails.map((email, i) => login(email, 'any', addressOf(i), '/token')),
        ),
        side('a refresh', refreshTokens.map(refreshOf('/token'))),
      ]
      return { sides, close: stop }
    },
    { rounds, ...SLICES },
  )
  const floods = Object.entries(FLOODS).map(([name, requests]) => ({ name, requests: () => requests }))
  const attack = ({ requests }) => underAttack({ connections: 64, depth: 60, requests }, { refresh: true }, node)
  const found = await inRounds(Math.ceil(rounds / 2), floods, attack)
  const attacks = floods.map(({ name }) => ({ name, ...summaryOf(found.map((round) => round[name])) }))
  return {
    tables: [
      [
        ['memory, ES256', 'µs', 'responses in the same time, to a guarded request'],
        rows.map(({ name, cpu, ratio }) => [name, spread(cpu.api), spread(ratio)]),
      ],
      [
        ['attack', 'guarded route: p50, p99 in ms', '20 sign-ins', 'peak memory'],
        attacks.map(({ name, guarded, owners, memory }) => [name, guarded, owners, memory]),
      ],
    ],
    verdicts: attacks.map(({ name, slower }) =>
      atMost(`${name}: p99 of a guarded route, to the p99 before`, slower, TARGET),
    ),
  }
}
