import { expect, it } from 'vitest'
import { createAccountCodes, passwordTag } from '../../../src/account/account-codes.js'
import type { CodeStore, StoredCode } from '../../../src/codes/codes.js'
import { memoryCodes } from '../../../src/codes/memory-codes.js'
import type { CodeMailKind } from '../../../src/mail/mail.js'
import { frozenClock, ISSUER } from '../../support/fixtures.js'
import { createCodes } from '../../support/sessions.js'

const TO = 'alice@example.com'
const KINDS: readonly CodeMailKind[] = ['sign-up', 'password-reset', 'new-address', 'sign-in']

/** Creates the codes of an app, and those of other apps on the same store. */
function create(clock = frozenClock()) {
  const rows: StoredCode[] = []
  const memory = memoryCodes()
  const store: CodeStore = {
    ...memory,
    add(code, ...others) {
      rows.push(code)
      return memory.add(code, ...others)
    },
  }
  const codes = createCodes(store, { clock })
  return { clock, rows, codes, ours: createAccountCodes(codes, ISSUER) }
}

it('keeps a code with its account and its facts until it is taken', async () => {
  const { ours } = create()
  const facts = { to: TO, tag: 'x', from: 'old@example.com' }
  const code = await ours.create('password-reset', 'north', 'acc-1', facts)
  const found = { accountId: 'acc-1', ...facts }
  for (let i = 0; i < 2; i++) expect(await ours.find('password-reset', 'north', code)).toEqual(found)
  expect(await ours.take('password-reset', 'north', code)).toEqual(found)
  expect(await ours.find('password-reset', 'north', code)).toBeUndefined()
  expect(await ours.take('password-reset', 'north', code)).toBeUndefined()
})

it('knows no code of another purpose, tenant or environment', async () => {
  const { ours, codes } = create()
  const elsewhere = createAccountCodes(codes, 'https://elsewhere.example.com')
  for (const kind of KINDS)
    for (const tenant of [undefined, 'north', 'undefined', 'null']) {
      const code = await ours.create(kind, tenant, 'acc-1', { to: TO })
      const others = KINDS.flatMap((other) =>
        [undefined, 'north', 'undefined', 'null'].map((one) => [other, one] as const),
      )
      for (const [other, one] of others.filter(([other, one]) => other !== kind || one !== tenant))
        expect(await ours.take(other, one, code)).toBeUndefined()
      expect(await elsewhere.take(kind, tenant, code)).toBeUndefined()
      expect(await codes.take(kind, code)).toBeUndefined()
      expect(await ours.take(kind, tenant, code)).toMatchObject({ to: TO })
    }
})

it('reads no code that the host has created', async () => {
  const { ours, codes, rows } = create()
  await ours.create('sign-in', undefined, 'acc-1', { to: TO })
  const { purpose } = rows[0] as StoredCode
  for (const data of [undefined, 'x', { to: 5 }, ['x']]) {
    const code = await codes.create({ purpose, accountId: 'acc-2', data })
    expect(await ours.find('sign-in', undefined, code)).toBeUndefined()
  }
})

it.each<[CodeMailKind, number]>([
  ['sign-up', 3_600_000],
  ['password-reset', 3_600_000],
  ['new-address', 3_600_000],
  ['sign-in', 600_000],
])('keeps the code of %s for %i ms', async (kind, lifetime) => {
  const { ours, clock } = create()
  const code = await ours.create(kind, undefined, 'acc-1', { to: TO })
  clock.advance(lifetime - 1)
  expect(await ours.find(kind, undefined, code)).toBeDefined()
  clock.advance(1)
  expect(await ours.find(kind, undefined, code)).toBeUndefined()
})

it('removes all codes of an owner, and no others', async () => {
  const { ours } = create()
  const mine = await Promise.all(KINDS.map((kind) => ours.create(kind, undefined, 'acc-1', { to: TO })))
  const other = await ours.create('sign-in', undefined, 'acc-2', { to: TO })
  await ours.removeAll('acc-1')
  for (const [i, kind] of KINDS.entries()) expect(await ours.find(kind, undefined, mine[i] ?? '')).toBeUndefined()
  expect(await ours.find('sign-in', undefined, other)).toBeDefined()
})

it('has an owner for each address without an account, tenant and environment', () => {
  const { ours, codes } = create()
  const elsewhere = createAccountCodes(codes, 'https://elsewhere.example.com')
  const owners = [
    ours.ownerOf(TO, undefined),
    ours.ownerOf(TO, 'north'),
    ours.ownerOf('bob@example.com', undefined),
    elsewhere.ownerOf(TO, undefined),
  ]
  expect(new Set(owners).size).toBe(4)
  expect(ours.ownerOf(TO, undefined)).toBe(owners[0])
  for (const owner of owners) expect(owner).not.toContain('@')
})

it('stores neither the code, nor the hash, nor the name of the tenant', async () => {
  const { ours, rows } = create()
  const code = await ours.create('password-reset', 'north', 'acc-1', { to: TO, tag: passwordTag('plain:secret') })
  const text = JSON.stringify(rows)
  for (const secret of [code, 'plain:secret', 'north']) expect(text).not.toContain(secret)
})

it('tags a hash, so that another one has another tag', () => {
  const tags = ['plain:a', 'plain:b', null, 'null', ''].map(passwordTag)
  expect(new Set(tags).size).toBe(5)
  expect(passwordTag('plain:a')).toBe(tags[0])
  for (const tag of tags) expect(tag).toMatch(/^[\w-]{22}$/)
})
