import { createClient } from '../../../support/plain-js/http-client.mjs'
import { ask, createTally, crowd, inTurn, times } from '../clients/crowd.mjs'
import { forged, guess, login, refused, signOut, statements, tokenOf } from '../clients/requests.mjs'
import { tokenFor, tokensFor } from '../clients/tokens.mjs'
import { startFleet } from '../servers/fleet-of.mjs'
import { check, figure } from '../verdicts.mjs'

const SIZE = 4
const PEOPLE = 100
const GUARDED = 200_000
const LOGINS = 2000
const SIGN_OUTS = 200
const GUESSES = 40
const BUDGET = 10
/** The most repetitions. Redis may take longer than 40 ms on a busy machine, and then each process has its own count. */
const TRIES = 4

/** Checks responses, failed-login limits and sign-outs of four processes behind nginx. */
export const load = {
  title: 'Four processes on PostgreSQL and Redis behind nginx',
  async run({ scale }) {
    const fleet = await startFleet({ size: SIZE, people: PEOPLE })
    const budgets = await countBudgets(fleet)
    const tokens = await tokensFor(fleet.ports.clearingHouse, fleet.people)
    const started = performance.now()
    const guardedTally = createTally()
    const loginTally = createTally()
    const signOutTally = createTally()
    const [underLoad] = await Promise.all([
      guessesInTurn(fleet, fleet.people[2], '127.0.3.1'),
      guardedRequests(fleet, tokens, Math.ceil(GUARDED * scale), guardedTally),
      logins(fleet, Math.ceil(LOGINS * scale), loginTally),
      signOuts(fleet, Math.ceil(SIGN_OUTS * scale), signOutTally),
    ])
    const seconds = (performance.now() - started) / 1000
    const log = await fleet.nginx.accessLog()
    const counts = fleet.apis.map(({ port }) => log.split(` 127.0.0.1:${port} `).length - 1)
    const secrets = secretsIn(fleet, tokens, log)
    const verdicts = [
      ...budgets,
      figure(
        `failed-login limit under load: guesses that were hashed, of ${GUESSES}`,
        `${underLoad.hashed}${silences(fleet) ? ', Redis found silent' : ''}`,
        underLoad.hashed === BUDGET,
      ),
      answered('guarded requests', guardedTally),
      answered('logins', loginTally),
      answered('sign-outs, each checked at every process', signOutTally),
      check('requests that nginx sent to each process', counts.join(', '), counts.every(Boolean)),
      check('passwords and tokens in the output of the processes and the log of nginx', secrets, secrets === 0),
      figure('both loads together', `${seconds.toFixed(0)} s, ${Math.round(guardedTally.total() / seconds)} guarded/s`),
    ]
    return { verdicts }
  },
}

const answered = (what, tally) =>
  check(
    `${what}: wrong responses`,
    `${tally.wrong()} of ${tally.total()}${tally.wrong() ? ` (${tally.examples().join('; ')})` : ''}`,
    tally.wrong() === 0 && tally.total() > 0,
  )

/** Sends guarded requests: six of seven are valid, and the others are invalid in five ways. */
async function guardedRequests({ ports, people, apis }, tokens, count, tally) {
  const readers = people.filter(({ scopes }) => scopes.length > 0)
  const scopeless = people.find(({ scopes }) => scopes.length === 0)
  const next = inTurn(readers)
  const houses = inTurn(['north', 'south', 'north'])
  const someToken = () => tokens.get(next())
  const ended = await endedToken(apis[0], people[0])
  const good = () => {
    const person = next()
    return statements(person, houses(), tokens.get(person))
  }
  const bad = [
    () => refused('no token', 401),
    () => refused('forged', 401, forged(someToken())),
    () => refused('signed out', 401, ended),
    () => refused('no scope', 403, tokens.get(scopeless)),
    () => refused('no such house', 404, someToken(), '/api/v2013/houses/west/statements'),
  ]
  const kinds = inTurn([...bad, ...Array(bad.length * 6).fill(good)])
  const { send, close } = createClient(ports.clearingHouse, { connections: 32 })
  await crowd({ size: 32, send, next: times(count, () => kinds()()), tally })
  close()
}

async function endedToken({ port }, person) {
  const { send, close } = createClient(port)
  const token = await tokenFor(port, person)
  await send(signOut(token).request)
  close()
  return token
}

/** Sends logins, nine of eleven with the right password. Each account has its own address and stays within the limit. */
async function logins({ ports, people }, count, tally) {
  const own = people.map((person, number) => {
    const connection = createClient(ports.clearingHouse, { connections: 1, localAddress: `127.0.4.${number + 1}` })
    return { person, number, ...connection }
  })
  const right = ({ person }) => login(person)
  const wrong = ({ person }) => guess(person.email)
  const nobody = ({ number }) => guess(`nobody${number}@example.com`, 'unknown address')
  // With eleven kinds, no account gets the same kind in every round.
  const kinds = inTurn([right, right, right, right, right, wrong, right, right, right, right, nobody])
  const turns = inTurn(own)
  const next = times(count, () => {
    const who = turns()
    return { ...kinds()(who), send: who.send }
  })
  await crowd({ size: 8, next, tally })
  for (const { close } of own) close()
}

/** Signs out in one process, then sends this token and another token of the account to all processes. */
async function signOuts({ apis, people }, count, tally) {
  const clients = apis.map(({ port }) => createClient(port, { connections: 2, localAddress: '127.0.5.1' }))
  const persons = inTurn(people.slice(3, 13))
  const processes = inTurn(clients)
  const askOne = (asked) => ask(asked, processes().send, tally)
  const askAll = (asked) => Promise.all(clients.map(({ send }) => ask(asked, send, tally)))
  for (let i = 0; i < count; i++) {
    const person = persons()
    const token = tokenOf(await askOne(login(person)))
    const other = tokenOf(await askOne(login(person)))
    // Every process has now cached the token.
    await askAll(statements(person, 'north', token))
    await askOne(signOut(token))
    await askAll(refused('signed out', 401, token))
    await askAll(statements(person, 'south', other))
  }
  for (const { close } of clients) close()
}

/** Counts how many guesses pass an account's limit, sent one by one and all at once on separate connections. */
async function countBudgets(fleet) {
  const persons = inTurn(fleet.people.slice(20))
  const owners = []
  const addresses = inTurn(Array.from({ length: 200 }, (_, i) => `127.0.2.${i + 1}`))
  const count = async (what, size) => {
    let setAside = 0
    for (;;) {
      const [person, address] = [persons(), addresses()]
      const before = silences(fleet)
      const { hashed, refused, wrong, inOrder } = await guesses(fleet, person, address, size)
      const silent = silences(fleet) > before
      if (silent && ++setAside < TRIES) continue
      owners.push({ person, address })
      const aside = setAside ? `; ${setAside} set aside, where Redis was silent` : ''
      const measured = `${hashed} hashed, ${refused} refused${wrong ? `, ${wrong} else` : ''}${aside}`
      const right = hashed === BUDGET && refused === GUESSES - BUDGET && (size > 1 || inOrder)
      return (silent ? figure : check)(`failed-login limit: ${GUESSES} guesses ${what}`, measured, right)
    }
  }
  const verdicts = [await count('one after the other', 1), await count('at once', GUESSES)]
  const owner = await ownersLogins(fleet, owners[0])
  const isRight = owner.join() === '429,200'
  return [
    ...verdicts,
    check(
      'failed-login limit: the right password from the same address, from another address',
      owner.join(', '),
      isRight,
    ),
  ]
}

const guessesInTurn = (fleet, person, address) => guesses(fleet, person, address, 1)

async function guesses({ ports }, person, address, size) {
  const { send } = createClient(ports.clearingHouse, { connections: size, localAddress: address, keepAlive: false })
  const tally = createTally()
  const statuses = []
  const judge = (_asked, { status }) => void statuses.push(status)
  await crowd({ size, send, next: times(GUESSES, () => guess(person.email, 'guess')), tally, judge })
  const [hashed, refused] = [tally.of('guess', 403), tally.of('guess', 429)]
  return { hashed, refused, wrong: GUESSES - hashed - refused, inOrder: !statuses.slice(hashed).includes(403) }
}

async function ownersLogins({ ports }, { person, address }) {
  const from = (where) =>
    createClient(ports.clearingHouse, { localAddress: where, keepAlive: false }).send(login(person).request)
  return [(await from(address)).status, (await from('127.0.3.2')).status]
}

/** Returns how often a process used its own count of failed logins because Redis was too slow. */
const silences = ({ apis }) =>
  apis.reduce((sum, { log }) => sum + log().split('dependency.failed throttle').length - 1, 0)

function secretsIn({ apis, people }, tokens, accessLog) {
  const secrets = [...people.map(({ password }) => password), ...tokens.values()]
  const printed = [accessLog, ...apis.map(({ log }) => log())].join('\n')
  return secrets.filter((secret) => printed.includes(secret)).length
}
