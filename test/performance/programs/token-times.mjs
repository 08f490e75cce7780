// The tokens of the part `tokens`: verifies tokens that are in no cache, and issues tokens, in one process, alternately. Arguments: the
// number of rounds, and an algorithm. Sends the rounds of `verify` and `issue`: microseconds of processor time for a token, by package.
import { createSecretKey, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { createTokenIssuer, createTokenVerifier } from 'express-token-endpoint'
import { inRounds } from '../harness/statistics.mjs'
import { peerTokens } from '../peers/tokens.mjs'
import { microsecondsOf } from './serve.mjs'

const rounds = Number(process.argv[2])
const alg = process.argv[3]
const issuer = 'https://api.example.com'

const TOKENS = 150

const PAIRS = {
  R: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  P: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  E: () => (alg === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })),
}

function createKeys() {
  if (alg === 'HS256') {
    const secret = randomBytes(32).toString('hex')
    const key = createSecretKey(Buffer.from(secret))
    const texts = { privateText: secret, publicText: secret }
    return { privateKey: key, publicKey: key, ...texts, signing: { secret }, verifying: { secret } }
  }
  const { privateKey, publicKey } = PAIRS[alg[0]]()
  const privateText = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const publicText = publicKey.export({ type: 'spki', format: 'pem' })
  const ours = { signing: { privateKey: privateText }, verifying: { publicKey: publicText } }
  return { privateKey, publicKey, privateText, publicText, ...ours }
}

const { signing, verifying, ...keys } = createKeys()
const subject = { accountId: 'acc-1', scopes: ['reports:read'], claims: { tenant: 'north' } }
const tokens = createTokenIssuer({ issuer, keys: { alg, ...signing } })
// The cache holds one token, so no token of the list is cached when it comes again.
const verifier = createTokenVerifier({ issuer, keys: { alg, ...verifying }, cache: 1 })
const header = { alg, typ: 'at+jwt', kid: tokens.jwks().keys[0]?.kid ?? 'k1' }
const peers = peerTokens({ alg, issuer, audience: issuer, header, claims, ...keys })

/** The claims of a new token. Peers get them anew for each token, because this package creates its own. */
function claims() {
  const iat = Math.floor(Date.now() / 1000)
  const registered = { iss: issuer, aud: issuer, sub: 'acc-1', client_id: issuer, iat, exp: iat + 3600 }
  return { ...registered, jti: randomUUID(), scope: 'reports:read', tenant: 'north' }
}

const list = []
while (list.length < TOKENS) list.push((await tokens.issue(subject)).token)
const forged = `${list[0].slice(0, list[0].lastIndexOf('.'))}.${list[1].split('.')[2]}`

const OURS = 'this package'
const all = { [OURS]: { verify: verifier.verify, issue: () => tokens.issue(subject) }, ...peers }
for (const [name, { verify, issue }] of Object.entries(all)) {
  const issued = await issue()
  await verify(issued.token ?? issued)
  const accepted = await Promise.resolve()
    .then(() => verify(forged))
    .then(() => true)
    .catch(() => false)
  if (accepted) throw new Error(`${name}: accepts a forged signature`)
}

const variants = Object.entries(all).map(([name, functions]) => ({ name, at: 0, ...functions }))
/** Few tokens in each round and many rounds, so that a disturbance of the machine affects all packages of a round. */
const TURNS = 40
const verifyTurn = (variant) => microsecondsOf(30, () => variant.verify(list[variant.at++ % TOKENS]))
const issueTurn = ({ issue }) => microsecondsOf(15, issue)
await inRounds(TURNS, variants, verifyTurn)
await inRounds(TURNS, variants, issueTurn)
const verified = await inRounds(rounds * TURNS, variants, verifyTurn)
const issued = await inRounds(rounds * TURNS, variants, issueTurn)
process.send({ verify: verified, issue: issued })
process.disconnect()
