import { type KeyObject, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createTokenIssuer, jwksRouter, tokenRouter } from 'express-token-endpoint'
import request from 'supertest'
import { ACCOUNTS, decodePayload, fastPasswords, forge, makeStore, PASSWORD, signingKey } from '../support/fixtures.js'
import { TOKEN_PATH } from '../support/http.js'
import { pairOf, publicPem } from '../support/keys.js'
import { createCertificate } from '../support/services/certificate.js'
import { encode, headerOf, partsOf } from '../support/tokens.js'

/** The issuer and the audience of the tokens. The programs contain them. */
export const ISSUER = 'https://api.example.com'

const KEYS = { ES256: signingKey('ES256', 'languages'), RS256: signingKey('RS256', 'languages') }
const PAIR = pairOf('ES256', 'languages')
const issuers = {
  ES256: createTokenIssuer({ issuer: ISSUER, keys: [KEYS.ES256, KEYS.RS256] }),
  RS256: createTokenIssuer({ issuer: ISSUER, keys: [KEYS.RS256, KEYS.ES256] }),
}

const login = (alg: keyof typeof issuers) =>
  tokenRouter({ tokens: issuers[alg], accounts: makeStore(), passwords: fastPasswords() })

/** An app with the token endpoint of each key, and with the key set at its default path. */
export const app = express()
  .use('/ES256', login('ES256'))
  .use('/RS256', login('RS256'))
  .use(jwksRouter({ tokens: issuers.ES256 }))

async function tokenOf(alg: keyof typeof issuers): Promise<string> {
  const { email } = ACCOUNTS.alice
  const { body } = await request(app).post(`/${alg}${TOKEN_PATH}`).send({ email, password: PASSWORD }).expect(200)
  return body.authenticationToken
}

/** Serves the app by https, because some libraries fetch keys by https only. The programs trust its certificate. */
export async function startIssuer() {
  const { key, cert, file: certificate, remove } = await createCertificate('IP:127.0.0.1')
  const server = createServer({ key, cert }, app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    ...process.env,
    JWKS_URL: `https://127.0.0.1:${port}/.well-known/jwks.json`,
    NODE_EXTRA_CA_CERTS: certificate, // Node
    SSL_CERT_FILE: certificate, // Python, Ruby, Perl and Go
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
  return {
    env,
    async stop() {
      server.closeAllConnections()
      server.close()
      await remove()
    },
  }
}

type Members = Record<string, unknown>

/** A token that the endpoint returned, and a function that signs it again with changes. */
interface Valid {
  token: string
  header: Members
  payload: Members
  signed: (changes: { header?: Members; payload?: Members }, key?: KeyObject) => string
}

const OTHER = 'https://other.example.com'
const seconds = Math.floor(Date.now() / 1000)

/** The 12 invalid tokens in the order of the table: the head of the column, and how the token is made. */
export const INVALID: Readonly<Record<string, readonly [column: string, make: (valid: Valid) => string]>> = {
  'no signature (`alg: none`)': [
    'none',
    ({ token, header }) => `${encode({ ...header, alg: 'none' })}.${partsOf(token).payload}.`,
  ],
  'HS256, signed with the public key': [
    'HS256',
    ({ header, payload }) => forge({ ...header, alg: 'HS256' }, payload, publicPem(PAIR.publicKey)),
  ],
  'another issuer': ['`iss`', ({ signed }) => signed({ payload: { iss: OTHER } })],
  'another audience': ['`aud`', ({ signed }) => signed({ payload: { aud: OTHER } })],
  expired: ['`exp`', ({ signed }) => signed({ payload: { iat: seconds - 7200, exp: seconds - 3600 } })],
  'not yet valid': ['`nbf`', ({ signed }) => signed({ payload: { nbf: seconds + 1800 } })],
  'another type (`typ: JWT`), for example an ID token': ['`typ`', ({ signed }) => signed({ header: { typ: 'JWT' } })],
  'without `exp`': ['no `exp`', ({ signed }) => signed({ payload: { exp: undefined } })],
  'signed with a key that is not in the key set': [
    '`kid`',
    ({ signed }) => signed({ header: { kid: randomUUID() } }, pairOf('ES256', 'stranger').privateKey),
  ],
  'a changed payload': [
    'payload',
    ({ token, payload }) => {
      const { header, signature } = partsOf(token)
      return `${header}.${encode({ ...payload, sub: 'acc-2' })}.${signature}`
    },
  ],
  'an unknown critical header (`crit`)': [
    '`crit`',
    ({ signed }) => signed({ header: { crit: ['policy'], policy: 'none' } }),
  ],
  'without `aud`': ['no `aud`', ({ signed }) => signed({ payload: { aud: undefined } })],
}

/** Signs in, and creates the invalid tokens from the token that the endpoint returned. */
export async function makeTokens() {
  const token = await tokenOf('ES256')
  const [header, payload] = [headerOf(token), decodePayload(token)]
  const signed: Valid['signed'] = (changes, key = PAIR.privateKey) =>
    forge({ ...header, ...changes.header }, { ...payload, ...changes.payload }, key, 'ES256')
  const made = Object.entries(INVALID).map(([name, [, make]]) => [name, make({ token, header, payload, signed })])
  const invalid: Record<string, string> = Object.fromEntries(made)
  /** Tokens without a claim that RFC 9068 demands. `exp` and `aud` are in the table. */
  const lacking = Object.fromEntries(
    ['iss', 'iat', 'sub', 'client_id', 'jti'].map((name) => [name, signed({ payload: { [name]: undefined } })]),
  )
  const valid = {
    ES256: token,
    RS256: await tokenOf('RS256'),
    // Proves that the invalid tokens are refused for what is wrong with them, and not for how this file signs.
    'signed again': signed({}),
  }
  return { valid, invalid, lacking }
}
