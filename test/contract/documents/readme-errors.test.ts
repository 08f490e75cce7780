import { generateKeyPairSync } from 'node:crypto'
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
  remoteKeys,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { REFUSALS } from '../../../src/shared/errors.js'
import { root, tableIn } from '../../support/documents/readme.js'
import { thrownBy } from '../../support/failures.js'
import { ISSUER, makeIssuer, SECRET } from '../../support/fixtures.js'

const errors = ts.createSourceFile(
  'errors.ts',
  readFileSync(`${root}src/shared/errors.ts`, 'utf8'),
  ts.ScriptTarget.Latest,
  true,
)

/** The members of a union of texts. */
function unionOf(name: string): string[] {
  const union = errors.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === name)
  return [...(union?.getText().matchAll(/'(\w+)'/g) ?? [])].map(([, member = '']) => member)
}

const namesIn = (heading: string) => tableIn(heading).map(([name = '']) => name.replaceAll('`', ''))

describe("the README's errors", () => {
  it.each([
    ['AuthErrorCode', '## Errors', 13, Object.keys(REFUSALS)],
    ['LoginRefusal', '### Why a login was refused', 4, unionOf('LoginRefusal')],
    ['TokenRefusal', '### Why a token was refused', 15, unionOf('TokenRefusal')],
    ['Dependency', '### Which part failed', 6, unionOf('Dependency')],
  ])('%s: each has a row, and each row is one', (_set, heading, atLeast, names) => {
    expect(names.length).toBeGreaterThanOrEqual(atLeast)
    expect(namesIn(heading).sort()).toEqual(names.sort())
  })

  it('have the right status, and say who sees them, why, and what to do', () => {
    for (const [code = '', status, ...rest] of tableIn('## Errors')) {
      expect(Number(status), code).toBe(new AuthError(code.replaceAll('`', '') as AuthErrorCode).status)
      expect(
        rest.filter((cell) => cell !== ''),
        code,
      ).toHaveLength(3)
    }
  })

  it('say of each reason and each part what it comes from', () => {
    for (const heading of ['### Why a login was refused', '### Why a token was refused', '### Which part failed']) {
      for (const row of tableIn(heading)) {
        expect(row, heading).toHaveLength(3)
        expect(row[1], row[0]).toMatch(/\w/)
      }
    }
  })
})

describe("the README's misuse", () => {
  const keys = { alg: 'HS256', secret: SECRET } as const
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = '-----BEGIN PRIVATE KEY-----'
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
    () => requireBearer({ tokens: makeIssuer(), accounts: (() => null) as never }),
    () => createPasswords({ hashers: [argon2id as never] }),
    () => requireBearer(new IncomingMessage(new Socket()) as never),
    () => remoteKeys('http://api.example.com/jwks.json'),
    () => requireBearer({ tokens: makeIssuer(), credentialsRequired: false } as never),
    () => authOf({ method: 'GET', baseUrl: '', path: '/statements' }),
    () => memoryAccounts([{ id: 'acc-1', email: 'a@b.c' } as never]),
  ]

  /** `…` stands for what differs from case to case. */
  const fits = (row: string, message: string) => {
    const parts = row.replace(/^`|`$/g, '').split(' … ')
    let at = 0
    return parts.every((part) => {
      const found = message.indexOf(part, at)
      at = found + part.length
      return found >= 0
    })
  }

  it('is what the package says, row by row', () => {
    const rows = tableIn('### What you may have got wrong').map(([message = '']) => message)
    const messages = misuse.map((run) => (thrownBy(run) as TypeError).message)
    expect(rows.filter((row, index) => !fits(row, messages[index] ?? ''))).toEqual([])
    expect(rows).toHaveLength(messages.length)
  })

  it('is a TypeError', () => {
    for (const run of misuse) expect(thrownBy(run)).toBeInstanceOf(TypeError)
  })
})
