import { readFileSync } from 'node:fs'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import {
  AuthError,
  type AuthErrorCode,
  argon2id,
  authOf,
  createPasswords,
  createTokenIssuer,
  createTokenVerifier,
  jwksRouter,
  memoryAccounts,
  pbkdf2,
  remoteKeys,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { BearerStrategy } from 'express-token-endpoint/passport'
import { describe, expect, it } from 'vitest'
import { REFUSALS } from '../../../../src/shared/refusals.js'
import { newKeyPair } from '../../../../src/tokens/algorithms/new-key-pair.js'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { thrownBy } from '../../../support/failures.js'
import { ISSUER, makeIssuer, SECRET } from '../../../support/fixtures.js'

const errors = readFileSync(`${root}src/shared/refusals.ts`, 'utf8')

/** The members of a union of texts. */
function unionOf(name: string): string[] {
  const [, union = ''] = new RegExp(`^export type ${name} =([^=]+?)\\n\\n`, 'm').exec(errors) ?? []
  return [...union.matchAll(/'(\w+)'/g)].map(([, member = '']) => member)
}

const page = readPage('docs/reference/errors.md')

/** Returns the names in the headings of one kind: `### Token: \`expired\`` for the kind `Token: `. */
const namesOf = (kind: string) =>
  page.headings.filter(({ text }) => text.startsWith(`${kind}\``)).map(({ text }) => text.slice(kind.length + 1, -1))

describe('the page on errors', () => {
  it.each([
    ['AuthErrorCode', '', 14, Object.keys(REFUSALS)],
    ['LoginRefusal', 'Login: ', 4, unionOf('LoginRefusal')],
    ['TokenRefusal', 'Token: ', 15, unionOf('TokenRefusal')],
    ['Dependency', 'Dependency: ', 6, unionOf('Dependency')],
  ])('%s: has a heading for each member, and no other', (_set, kind, atLeast, names) => {
    expect(names.length).toBeGreaterThanOrEqual(atLeast)
    expect(namesOf(kind).sort()).toEqual(names.sort())
  })

  it('names the status of each code', () => {
    for (const code of Object.keys(REFUSALS) as AuthErrorCode[])
      expect(page.section(`### \`${code}\``), code).toMatch(new RegExp(`\\b${new AuthError(code).status}\\b`))
  })

  it('says something below each heading', () => {
    for (const { level, text } of page.headings.filter((heading) => heading.level === 3))
      expect(page.section(`${'#'.repeat(level)} ${text}`), text).toMatch(/\w+ \w+ \w+/)
  })
})

describe('the page on misuse', () => {
  const keys = { alg: 'HS256', secret: SECRET } as const
  const { publicKey } = newKeyPair('ec', { namedCurve: 'P-256' })
  const pem = '-----BEGIN PRIVATE KEY-----'
  const request = new IncomingMessage(new Socket())
  /** The codes in the order of the rows. */
  const misuse: (() => unknown)[] = [
    () => makeIssuer({ keys: { alg: 'HS256', secret: undefined } }),
    () => makeIssuer({ keys: { alg: 'HS256', secret: 'secret' } }),
    () => makeIssuer({ keys: { alg: 'HS256', secret: `${pem}\n${'A'.repeat(64)}\n` } }),
    () => makeIssuer({ keys: { alg: 'ES256', privateKey: `${pem}\\n${'A'.repeat(64)}\\n` } }),
    () => makeIssuer({ keys: { alg: 'ES256', privateKey: 'signing-key.pem' } }),
    () => makeIssuer({ keys: { alg: 'ES256', publicKey } as never }),
    () => makeIssuer({ keys: [keys, { alg: 'ES256', publicKey }] as never }),
    () => createTokenIssuer({ issuer: 'api.example.com', keys }),
    () => makeIssuer({ lifetime: 3_600_000 }),
    () => tokenRouter({ tokens: createTokenVerifier({ issuer: ISSUER, keys }) as never, accounts: () => null }),
    () => jwksRouter({ tokens: makeIssuer() }),
    () => requireBearer({ tokens: makeIssuer(), scope: undefined as never }),
    () => requireBearer({ tokens: makeIssuer() })({ headers: {} } as never, {} as never, () => {}),
    () => new BearerStrategy({ tokens: makeIssuer() }).authenticate.call({} as never, request, { scope: 'admin' }),
    () => requireBearer({ tokens: makeIssuer(), accounts: (() => null) as never }),
    () => createPasswords({ hashers: [argon2id as never] }),
    () => createPasswords({ hashers: [pbkdf2(), argon2id()] }),
    () => requireBearer(request as never),
    () => remoteKeys('http://api.example.com/jwks.json'),
    () => requireBearer({ tokens: makeIssuer(), credentialsRequired: false } as never),
    () => authOf({ method: 'GET', baseUrl: '', path: '/statements' }),
    () => memoryAccounts([{ id: 'acc-1', email: 'a@b.c' } as never]),
  ]

  /** Returns whether a message has the parts of a row in their order. `…` stands for what differs from case to case. */
  const fits = (row: string, message: string) => {
    const parts = row.replace(/^`|`$/g, '').split(' … ')
    return new RegExp(parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*'), 's').test(message)
  }

  it('has the messages of the package, row by row', () => {
    const rows = readPage('docs/reference/misuse.md')
      .tableIn('# Misuse')
      .map(([message = '']) => message)
    const errors = misuse.map(thrownBy) as TypeError[]
    for (const error of errors) expect(error).toBeInstanceOf(TypeError)
    const messages = errors.map(({ message }) => message)
    expect(rows.filter((row, index) => !fits(row, messages[index] ?? ''))).toEqual([])
    expect(rows).toHaveLength(messages.length)
  })
})
