import { createPrivateKey, createPublicKey } from 'node:crypto'
import express from 'express'
import {
  type AuthEvent,
  createTokenVerifier,
  requireBearer,
  type SessionStore,
  type TokenVerifier,
} from 'express-token-endpoint'
import { type BearerHeaders, createTestIssuer, type SessionTestIssuer } from 'express-token-endpoint/testing'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { signCompact } from '../../../src/tokens/jwt/signature.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { signingKey } from '../../support/fixtures.js'
import { createSessions, memorySessions } from '../../support/sessions.js'

const ISSUER = 'https://issuer.test'
const FOREIGN = `${ISSUER}/another-environment`
const KEY = signingKey('ES256')

/** Creates an issuer for an app with sessions, and a function that sends a request to a guarded route of the app. */
function setUp(store: SessionStore = memorySessions()) {
  const sessions = createSessions(store, { issuers: [ISSUER, FOREIGN] })
  const issuer = createTestIssuer({ store: { sessions: store }, keys: KEY })
  /** Returns the status, or the reason of a refusal. */
  async function get(headers: BearerHeaders, tokens: TokenVerifier = issuer.tokens, withSessions = true) {
    const events: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => events.push(event)
    const guard = requireBearer({ tokens, onEvent, ...(withSessions && { store: { sessions: store } }) })
    const app = express().get('/', guard, (_req, res) => void res.json({}))
    const { status } = await request(app).get('/').set(headers)
    const [event] = events
    return status === 401 && event?.type === 'bearer.refused' ? event.reason : status
  }
  return { ...issuer, sessions, store, get }
}

type Kit = ReturnType<typeof setUp>

/** Returns the headers with a token that has the right header and the right signature for the same claims. */
function signedAgain({ Authorization }: BearerHeaders, { tokens }: Kit): BearerHeaders {
  const [, payload = ''] = Authorization.split('.')
  const [jwk] = tokens.jwks().keys
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const header = { alg: 'ES256', typ: 'at+jwt', kid: jwk?.kid } as const
  return { Authorization: `Bearer ${signCompact(header, claims, createPrivateKey(KEY.privateKey as string))}` }
}

/** Verifies the tokens of another issuer or audience. */
const verifierLike = ({ tokens, clock }: Kit, changes: { issuer?: string; audience?: string }) => {
  const key = createPublicKey({ key: tokens.jwks().keys[0] ?? {}, format: 'jwk' })
  const { issuer, audience } = tokens
  return createTokenVerifier({ issuer, audience, keys: { alg: 'ES256', publicKey: key }, clock, ...changes })
}

function later(kit: Kit, headers: BearerHeaders, move: () => void) {
  move()
  return kit.get(headers)
}

/** The reason for each refusal, and a request without only this fault. */
const FAULTS: {
  readonly [fault in keyof SessionTestIssuer['refused']]: readonly [
    reason: string,
    without: (kit: Kit, headers: BearerHeaders) => Promise<unknown>,
  ]
} = {
  expired: ['expired', (kit, headers) => later(kit, headers, () => kit.clock.set(Date.now() - 30 * 60_000))],
  notYetValid: ['not_yet_valid', (kit, headers) => later(kit, headers, () => kit.clock.advance('2m'))],
  foreign: ['issuer', (kit, headers) => kit.get(headers, verifierLike(kit, { issuer: FOREIGN }))],
  foreignKey: ['unknown_key', (kit, headers) => kit.get(signedAgain(headers, kit))],
  otherAudience: [
    'audience',
    (kit, headers) => kit.get(headers, verifierLike(kit, { audience: `${ISSUER}/another-audience` })),
  ],
  forged: ['signature', (kit, headers) => kit.get(signedAgain(headers, kit))],
  malformed: ['malformed', (kit, headers) => kit.get(signedAgain(headers, kit))],
  unsigned: ['malformed', (kit, headers) => kit.get(signedAgain(headers, kit))],
  publicKeyAsSecret: ['algorithm', (kit, headers) => kit.get(signedAgain(headers, kit))],
  idToken: ['type', (kit, headers) => kit.get(signedAgain(headers, kit))],
  endedSession: ['revoked', (kit, headers) => kit.get(headers, kit.tokens, false)],
}

describe('an issuer for tests of an app with sessions', () => {
  it('makes tokens that a guard with the sessions admits, until their session ends', async () => {
    const { bearer, issue, sessions, get } = setUp()
    expect(await get(await bearer('acc-1'))).toBe(200)
    const { id, headers, expiresAt } = await issue({ id: 'acc-1', scopes: ['reports:read'] })
    expect(await sessions.list('acc-1')).toMatchObject([{ id, expiresAt }, {}])
    await sessions.end({ accountId: 'acc-1' }, id)
    expect(await get(headers)).toBe('revoked')
  })

  it('lists a function for each fault', () => {
    expect(Object.keys(setUp().refused).sort()).toEqual(Object.keys(FAULTS).sort())
    expect(Object.keys(createTestIssuer().refused)).not.toContain('endedSession')
  })

  it.each(Object.entries(FAULTS))('%s: is refused for its own fault, and admitted without it', async (name, fault) => {
    const kit = setUp()
    const [reason, without] = fault
    const headers = await kit.refused[name as keyof typeof FAULTS]('acc-1')
    expect(await kit.get(headers)).toBe(reason)
    expect(await without(kit, headers)).toBe(200)
  })

  it.each(Object.entries(FAULTS))(
    '%s: is refused for its own fault when a test does not wait',
    async (name, [reason]) => {
      const kit = setUp()
      const headers = kit.refused[name as keyof typeof FAULTS]('acc-1')
      expect(await kit.get(headers as never)).toBe(reason)
      await headers
    },
  )

  it('sends the token of a session in memory, when a test does not wait', async () => {
    const { bearer, issue, get } = setUp()
    const headers = bearer('acc-1')
    expect(await get(headers as never)).toBe(200)
    const token = issue('acc-1')
    expect(await token).toEqual({ ...token })
  })

  it('rejects when the store of the sessions fails', async () => {
    const { bearer } = setUp({ ...memorySessions(), add: () => Promise.reject(new Error('no table')) })
    expect(await rejectionOf(bearer('acc-1'))).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
  })

  it('refuses sessions that are not in a store', () => {
    expectMisuse(
      () => createTestIssuer({ store: memorySessions() as never }),
      'createTestIssuer: option "store" must be memoryStore(), or an object { sessions }',
    )
    expectMisuse(() => createTestIssuer({ sessions: memorySessions() } as never), 'Did you mean "store"?')
  })
})
