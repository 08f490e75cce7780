import { jwksRouter, remoteKeys, requireBearer } from 'express-token-endpoint'
import { expect, it } from 'vitest'
import { misuse as errorOf, type Subject } from '../../../../src/options/misuse.js'
import { newKeyPair } from '../../../../src/tokens/algorithms/new-key-pair.js'
import { readPage } from '../../../support/documents/pages.js'
import { rejectionOf } from '../../../support/failures.js'
import { makeIssuer, SECRET } from '../../../support/fixtures.js'

const keys = { alg: 'HS256', secret: SECRET } as const
const { publicKey } = newKeyPair('ec', { namedCurve: 'P-256' })

/** The misuse of the package in the order of the rows. */
const OF_PACKAGE: readonly (() => unknown)[] = [
  () => makeIssuer({ keys: { alg: 'HS256', secret: undefined } }),
  () => makeIssuer({ keys: [keys, { alg: 'ES256', publicKey }] as never }),
  () => jwksRouter({ tokens: makeIssuer() }),
  () => requireBearer({ tokens: makeIssuer() })({ headers: new Headers() } as never, {} as never, () => {}),
  () => remoteKeys('http://api.example.com/jwks.json'),
]

/** Returns whether a message has the parts of a row in their order. `…` stands for what differs from case to case. */
function fits(row: string, message = ''): boolean {
  const parts = row.replace(/^`|`$/g, '').split(' … ')
  return new RegExp(parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*'), 's').test(message)
}

it.each([['docs/reference/errors.md', '## Misuse', OF_PACKAGE]])(
  '%s has the messages about misuse, row by row',
  async (path, heading, misuse) => {
    const rows = readPage(path)
      .tableIn(heading)
      .map(([message = '']) => message)
    const errors = (await Promise.all(misuse.map((run) => rejectionOf((async () => run())())))) as Error[]
    expect(rows.filter((row, index) => !fits(row, errors[index]?.message))).toEqual([])
    expect(rows).toHaveLength(errors.length)
    expect(errors.filter((error) => !(error instanceof TypeError))).toEqual([])
  },
)

it.each([
  'createAuth tokenRouter LoginStrategy storeContract createPasswords argon2id',
  'bcrypt pbkdf2 scrypt firebaseScrypt discoverKeys createTokenIssuer createTokenVerifier',
  'jwksRouter remoteKeys requireBearer closeWhenEnded createLimits openApiDocument createTestIssuer',
])('a message names the page that describes the function: %s', (names) => {
  const pageOf = (name: string) =>
    errorOf(`${name as Subject}: option "a" is missing`).message.replace(/^.*See express-token-endpoint\//, '')
  const isDescribed = (name: string) => readPage(pageOf(name)).headings.some(({ text }) => text.includes(name))
  expect(names.split(' ').filter((name) => !isDescribed(name))).toEqual([])
})
