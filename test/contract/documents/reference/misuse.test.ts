import { expect, it } from 'vitest'
import { misuse as errorOf, type Subject } from '../../../../src/options/misuse.js'
import { readPage } from '../../../support/documents/pages.js'

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
