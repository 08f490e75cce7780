import {
  argon2id,
  bcrypt,
  createPasswords,
  createThrottle,
  createTokenIssuer,
  createTokenVerifier,
  firebaseScrypt,
  jwksRouter,
  remoteKeys,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import { accountStoreContract, createTestIssuer } from 'express-token-endpoint/testing'
import { describe, expect, it } from 'vitest'
import { readPage } from '../../../support/documents/pages.js'
import { thrownBy } from '../../../support/failures.js'
import { ISSUER } from '../../../support/fixtures.js'

type Make = (options: object) => unknown

const FUNCTIONS: Record<string, Make> = {
  'createTokenIssuer(options)': createTokenIssuer as Make,
  'createTokenVerifier(options)': createTokenVerifier as Make,
  'jwksRouter(options)': jwksRouter as Make,
  'remoteKeys(url, options?)': (options) => remoteKeys(ISSUER, options),
  'tokenRouter(options)': tokenRouter as Make,
  'requireBearer(options)': requireBearer as Make,
  'createPasswords(options?)': createPasswords as Make,
  'argon2id(options?)': argon2id,
  'bcrypt(options?)': bcrypt,
  'firebaseScrypt(options)': firebaseScrypt as Make,
  'createThrottle(options?)': createThrottle as Make,
  'openApiDocument(options?)': openApiDocument as Make,
  'guardedOperation(operation, options?)': (options) => guardedOperation({ responses: {} }, options),
  'createTestIssuer(options?)': createTestIssuer as Make,
  'accountStoreContract(options)': accountStoreContract as Make,
}

const pages = ['docs/reference/options.md', 'docs/reference/passwords.md'].map(readPage)

/** Returns the options that a function accepts, from its message about an unknown option. */
function knownOptions(make: Make): string[] {
  const { message } = thrownBy(() => make({ '?': 1 })) as TypeError
  return /Known options: (.*?)(?:\. |$)/.exec(message)?.[1]?.split(', ') ?? []
}

/** Returns the options that a section's tables name in the first column. */
function documentedOptions(name: string): string[] {
  const rows = pages.flatMap((page) => {
    const { text, level = 0 } = page.headings.find((heading) => heading.text === `\`${name}\``) ?? {}
    return text === undefined ? [] : page.tableIn(`${'#'.repeat(level)} ${text}`)
  })
  return rows.flatMap(([cell = '']) => (/^(`\w+`(, )?)+$/.test(cell) ? (cell.match(/\w+/g) ?? []) : []))
}

describe('the pages on options', () => {
  it.each(Object.entries(FUNCTIONS))('%s: names each option, and no other', (name, make) => {
    const known = knownOptions(make)
    expect(known.length).toBeGreaterThan(0)
    expect(documentedOptions(name).sort()).toEqual(known.sort())
  })
})
