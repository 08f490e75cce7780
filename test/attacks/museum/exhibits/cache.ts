import express, { type RequestHandler } from 'express'
import { authOf, createTokenVerifier, type RequireBearerOptions, requireBearer } from 'express-token-endpoint'
import { ACCOUNTS } from '../../../support/fixtures.js'
import { bearer, type Sent } from '../../../support/plain-js/http-client.mjs'
import { decodePayload, encode, partsOf } from '../../../support/plain-js/token-forger.mjs'
import type { Exhibit, Guard } from '../exhibit.js'
import { ourSecretGuard, SECRET_KEY, serve } from '../ours.js'
import { guardOf, load } from '../packages.js'
import { ISSUER, isFresh, open, present, SECRET, token, tokenOf, validSecret } from '../tokens.js'

/** The last characters of a token are the key of the cache. */
const KEY = 20

/** Presents a valid token to a route, and then to the guarded route. */
const endedBy = (method: string, path: string) => (typ: string) => {
  const text = token(typ)
  return [{ wait: 5000 }, { ...bearer(text, path), method }, bearer(text, '/')]
}

/** A guard that checks only the token, and a route that ends access but that the guard does not know. */
const onlyTheToken = (isEnded: (request: Sent, ended: Map<unknown, number>) => boolean, end: string): Guard => {
  const ended = new Map<unknown, number>()
  return (request) => {
    const { sub } = open(tokenOf(request)).payload
    if (request.path === end) ended.set(sub, Date.now())
    return isFresh(tokenOf(request)) && !isEnded(request, ended) ? 'admitted' : 'refused'
  }
}

/** Our guard with a check on every request, and a route that ends access. */
const ourCheck = (path: string, made: () => { options: Partial<RequireBearerOptions>; end: RequestHandler }) => () =>
  serve((onEvent) => {
    const { options, end } = made()
    const tokens = createTokenVerifier({ issuer: ISSUER, keys: SECRET_KEY, clock: () => Date.now() })
    const guard = requireBearer({ tokens, onEvent, ...options })
    return express()
      .all(path, guard, end)
      .get('/', guard, (_req, res) => void res.sendStatus(200))
  })

/** A token that was valid before must not stand for another one, nor for itself for ever. */
export const CACHE: Exhibit[] = [
  {
    id: 'CVE-2026-35039',
    fault: 'Two tokens can have one key in the cache, which returns the claims of the other token.',
    installed: 'fast-jwt-6.1.0',
    faulty: () => {
      const cacheKeyBuilder = (text: string) => text.slice(-KEY)
      return guardOf(load('fast-jwt-6.1.0').createVerifier({ key: SECRET, cache: true, cacheKeyBuilder }))
    },
    attack: (typ) => {
      const text = token(typ)
      const { header, signature } = partsOf(text)
      return present(text, `${header}.${encode({ ...decodePayload(text), sub: 'acc-2' })}.${signature}`)
    },
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_token: signature',
  },
  {
    id: 'CVE-2026-107719',
    fault: 'The cache admits an expired token that has no `iat`.',
    installed: 'fast-jwt-6.2.4',
    faulty: () => guardOf(load('fast-jwt-6.2.4').createVerifier({ key: SECRET, cache: true })),
    attack: (typ) => {
      const exp = Math.floor(Date.now() / 1000) + 60
      const [request] = present(token(typ, { payload: { iat: undefined, exp } }))
      return request ? [request, { wait: 120_000 }, request] : []
    },
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_token: claims',
  },
  {
    id: 'CVE-2025-53826',
    fault: 'A token works after its owner signed out.',
    faulty: () => onlyTheToken(() => false, '/logout'),
    attack: endedBy('POST', '/logout'),
    control: validSecret,
    ours: ourCheck('/logout', () => {
      const revoked = new Set<string>()
      return {
        options: { isRevoked: ({ id }) => revoked.has(id) },
        end: (req, res) => {
          revoked.add(authOf(req).id)
          res.sendStatus(204)
        },
      }
    }),
    refusal: 'invalid_token: revoked',
  },
  {
    id: 'CVE-2026-35594',
    fault: 'A token works after its owner was deleted, because only its claims are read.',
    faulty: () => onlyTheToken(() => false, '/account'),
    attack: endedBy('DELETE', '/account'),
    control: validSecret,
    ours: ourCheck('/account', () => {
      const accounts = new Map([[ACCOUNTS.alice.id, ACCOUNTS.alice]])
      const findById = (id: string) => accounts.get(id)
      return {
        options: { accounts: { findByEmail: () => undefined, findById } },
        end: (req, res) => {
          accounts.delete(authOf(req).accountId)
          res.sendStatus(204)
        },
      }
    }),
    refusal: 'invalid_token: unknown_account',
  },
  {
    id: 'CVE-2020-26892',
    fault: 'A revocation is compared with the current time instead of the time of issue.',
    faulty: () =>
      onlyTheToken((request, ended) => {
        const since = ended.get(open(tokenOf(request)).payload['sub'])
        return since !== undefined && since > Date.now()
      }, '/password'),
    attack: endedBy('POST', '/password'),
    control: validSecret,
    ours: ourCheck('/password', () => {
      let account: typeof ACCOUNTS.alice & { tokensValidAfter?: Date } = ACCOUNTS.alice
      return {
        options: { accounts: { findByEmail: () => undefined, findById: () => account } },
        end: (_req, res) => {
          account = { ...account, tokensValidAfter: new Date() }
          res.sendStatus(204)
        },
      }
    }),
    refusal: 'invalid_token: superseded',
  },
]
