import { bearer, login, requestText } from '../../support/plain-js/http-client.mjs'
import { withOtherSignature } from '../../support/plain-js/token-forger.mjs'

export const PASSWORD = 'correct horse'

const ONE = '203.0.113.9'
const many = (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
const texts = (count, create) => Array.from({ length: count }, (_, i) => requestText(create(i)))
const guess = (i, address) => login(`known${i % 900}@example.com`, `guess ${i}`, address)

const manyGuess = () => texts(10_000, (i) => guess(i, many(i)))
const oneGuesses = () => texts(900, (i) => guess(i, ONE))
const ownAccounts = () => texts(100, (i) => login(`known${i}@example.com`, PASSWORD, ONE))
const longAddresses = () => texts(100, (i) => login(`${'e'.repeat(10_000)}${i}@example.com`, 'guess', many(i)))
const notFound = () => texts(1, () => ({ ...guess(0, ONE), path: '/nothing' }))
const forged = (body) => (token) =>
  texts(960, (i) => ({ ...bearer(withOtherSignature(token, i), '/guarded'), ...(body !== undefined && { body }) }))

const forgedTokens = (connections, what, body) => ({
  name: `forged tokens${what}, ${connections} × 60`,
  connections,
  requests: forged(body),
  ofToken: true,
  depth: 60,
})
const BODIES = [
  ['', undefined],
  [' with Content-Length: 0', ''],
  [' with a body of 10 kB', 'x'.repeat(10_000)],
]

/**
 * The attacks: the number of connections, the requests, how many requests are in one write (`depth`), and the milliseconds between a
 * response and the next request (`pause`). The first row is the app without an attack.
 */
export const ATTACKS = [
  { name: 'none', connections: 0 },
  { name: '256 addresses guess, after 1 s again', connections: 256, requests: manyGuess, pause: 1000 },
  { name: '256 addresses guess', connections: 256, requests: manyGuess },
  { name: 'one address guesses, 256 × 1', connections: 256, requests: oneGuesses },
  { name: 'one address guesses, 16 × 50', connections: 16, requests: oneGuesses, depth: 50 },
  { name: 'one address guesses, 16 × 400', connections: 16, requests: oneGuesses, depth: 400 },
  ...BODIES.flatMap(([what, body]) => [16, 64].map((connections) => forgedTokens(connections, what, body))),
  { name: 'right passwords, 7 × 1', connections: 7, requests: ownAccounts },
  { name: 'right passwords, 16 × 50', connections: 16, requests: ownAccounts, depth: 50 },
  { name: 'e-mail addresses of 10 kB, 64 × 1', connections: 64, requests: longAddresses },
  { name: "Express's own 404, 16 × 400", connections: 16, requests: notFound, depth: 400 },
]
