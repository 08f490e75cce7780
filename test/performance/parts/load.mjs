import { createClient } from '../../support/plain-js/http-client.mjs'
import { must } from '../harness/report.mjs'
import { startSeveral } from '../several/apps.mjs'
import {
  endedToken,
  guess,
  inTurn,
  refusals,
  signIn,
  signOut,
  startTraffic,
  statements,
  tokenOf,
  UP,
} from '../several/traffic.mjs'

const SIZE = 4
const PEOPLE = 40
const REQUESTS = 100_000
const SIGN_OUTS = 100

export const title = `${SIZE} processes behind nginx, on PostgreSQL and Redis: every response is right`

export async function run({ node, scale }) {
  const { ports, apis, nginx, people } = await startSeveral({ node, size: SIZE, people: PEOPLE })
  const port = ports.clearingHouse
  const { send } = createClient(port, { connections: 32 })
  const ended = await endedToken(send, people[0])
  // Each account signs in from its own address, so that its guesses do not refuse another account.
  const sends = people.map((_, i) => createClient(port, { connections: 2, localAddress: `127.0.4.${i + 1}` }).send)
  const number = inTurn([...people.keys()].slice(0, -1))
  const good = () => statements(people[number()])
  const ofLogin = (make) => () => {
    const i = number()
    return { ...make(people[i]), send: sends[i] }
  }
  const logins = [signIn, signIn, guess].map(ofLogin)
  const kinds = inTurn([...refusals(people, { ended }), ...logins, ...Array(93).fill(good)])
  let left = Math.ceil(REQUESTS * scale)
  const next = () => (left-- > 0 ? { send, ...kinds()() } : undefined)
  const [all, faults] = await Promise.all([
    startTraffic({ clients: 32, next, allowed: (kind) => UP[kind], phase: 'up' }).over,
    signOuts(apis, people.slice(0, -1), Math.ceil(SIGN_OUTS * scale)),
  ])
  const log = await nginx.accessLog()
  const counts = apis.map((api) => log.split(` 127.0.0.1:${api.port} `).length - 1)
  const printed = [log, ...apis.map((api) => api.log())].join('\n')
  const secrets = people
    .flatMap(({ password, token }) => [password, token])
    .filter((secret) => printed.includes(secret))
  return {
    tables: [],
    verdicts: [
      all.verdict('whole run', 'statements 200', 'login 200', 'wrong password 403', 'signed out 401'),
      must('sign-outs, each checked at every process: faults', faults.join(', ') || 'none', faults.length === 0),
      must('requests that nginx sent to each process', counts.join(', '), counts.every(Boolean)),
      must('passwords and tokens in the logs', `${secrets.length}`, secrets.length === 0),
    ],
  }
}

/** Signs out in one process, then sends this token and another token of the account to all processes. Returns wrong statuses. */
async function signOuts(apis, people, count) {
  const clients = apis.map(({ port }) => createClient(port, { connections: 2, localAddress: '127.0.5.1' }).send)
  const [person, client] = [inTurn(people), inTurn(clients)]
  const faults = []
  for (let i = 0; i < count; i++) {
    const who = person()
    const signInAnywhere = async () => tokenOf(await client()(signIn(who).request))
    const [token, other] = [await signInAnywhere(), await signInAnywhere()]
    const askAll = async (used, expected) => {
      const answers = await Promise.all(clients.map((send) => send(statements(who, used).request)))
      for (const { status } of answers) if (status !== expected) faults.push(`${status} instead of ${expected}`)
    }
    // Every process has now cached the token.
    await askAll(token, 200)
    await client()(signOut(token))
    await askAll(token, 401)
    await askAll(other, 200)
  }
  return faults
}
