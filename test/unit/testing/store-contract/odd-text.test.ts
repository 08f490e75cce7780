import { expect, it } from 'vitest'
import { accountKey } from '../../../../src/accounts/throttle/account-key.js'
import { longSpellings, otherSpellings } from '../../../../src/testing/store-contract/odd-text.js'

const ADDRESSES = ['thea.roe_smith7@example.com', 'björn.çelik+tag@straße.example', 'x@y']

it.each(ADDRESSES)('gives other spellings of %s, each one once', (email) => {
  const spellings = otherSpellings(email).map(([, spelling]) => spelling)
  expect(spellings).not.toContain(email)
  expect(spellings.length).toBeGreaterThan(25)
})

it('gives spellings that share a failed-login limit with the address, and spellings that do not', () => {
  const [email = ''] = ADDRESSES
  const own = otherSpellings(email).filter(([, spelling]) => accountKey(spelling) !== accountKey(email))
  expect(own.map(([what]) => what)).toEqual([
    ...['a dot inside', 'a hyphen inside', 'an underscore inside', 'an apostrophe inside', 'an emoji inside'],
    ...['an unassigned character inside', 'a private character inside'],
    ...['a replacement character inside', 'ö for oe', 'þ for th', 'without the dots before the @', 'with a tag'],
    ...['without punctuation', 'with a zero before its number', 'in quotation marks', 'in angle brackets'],
    ...['with a dot after it', 'with an ideographic full stop'],
  ])
})

it.each(ADDRESSES)('gives long spellings of %s that are longer than the limit', (email) => {
  for (const [, spelling] of longSpellings(email, 320)) {
    expect(spelling.length).toBeGreaterThan(320)
    expect(accountKey(spelling)).not.toBe(accountKey(email))
  }
})
