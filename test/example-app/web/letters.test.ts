import type { Mail } from 'express-token-endpoint'
import { expect, test } from 'vitest'
import { letterOf } from '../../../example-app/web/letters.js'

const PAGE = 'http://127.0.0.1:3000/x/'
const BASE = { to: 'alice@example.com', tenant: undefined }

test.each(['sign-up', 'password-reset', 'new-address', 'sign-in'] as const)(
  '%s: the code is only in the fragment of the link',
  (kind) => {
    const { to, subject, text, link } = letterOf({ ...BASE, kind, code: 'secret-code' }, PAGE)
    expect([to, link]).toEqual([BASE.to, `${PAGE}#${kind}=secret-code`])
    expect(`${subject} ${text}`).not.toContain('secret-code')
    expect(text).toMatch(/within (an hour|ten minutes)/)
  },
)

test('a notice has no link, and that of a new address names it', () => {
  const mail: Mail = { ...BASE, kind: 'address-changed', details: { email: 'new@example.com' } }
  const letter = letterOf(mail, PAGE)
  expect(letter).not.toHaveProperty('link')
  expect(letter.text).toContain('The new address is new@example.com.')
  expect(letterOf({ ...BASE, kind: 'address-taken', details: {} }, PAGE).text).not.toContain('undefined')
})
