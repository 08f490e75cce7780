import { expect, it } from 'vitest'
import { isNewAddress } from '../../../src/account/new-address.js'

it.each([
  'a@b',
  'alice@example.com',
  "o'hara+tag/x=1@sub.example.museum",
  'ålice@exämple.com',
  '用户@例子.广告',
  `${'a'.repeat(242)}@example.com`,
])('accepts %s', (text) => expect(isNewAddress(text)).toBe(true))

it.each<readonly [string, string]>([
  ['nothing', ''],
  ['no @', 'alice.example.com'],
  ['two @', 'a@b@c'],
  ['no name', '@example.com'],
  ['no domain', 'alice@'],
  ['two characters', 'a@'],
  ['255 characters', `${'a'.repeat(243)}@example.com`],
  ['two addresses', 'victim@example.com,attacker'],
  ['a blank', 'a lice@example.com'],
  ['a blank at the end', 'alice@example.com '],
  ['a no-break space', 'alice\u00a0@example.com'],
  ['a line separator', 'alice\u2028@example.com'],
  ['a header line', 'alice@example.com\r\nBcc: x'],
  ['a zero character', 'alice\0@example.com'],
  ['a delete character', 'alice\x7f@example.com'],
  ['a zero-width space', 'alice\u200b@example.com'],
  ['a change of the direction', 'alice\u202e@example.com'],
  ['a byte order mark', '\ufeffalice@example.com'],
  ['a soft hyphen', 'ali\u00adce@example.com'],
  ...[...',;:<>"()[]\\'].map((one) => [`the character ${one}`, `ali${one}ce@example.com`] as const),
])('refuses an address with %s', (_what, text) => expect(isNewAddress(text)).toBe(false))

it('reads no text that is too long', () => {
  expect(isNewAddress(`${'@'.repeat(10_000_000)}`)).toBe(false)
})
