import { expect, it } from 'vitest'
import { hasNoSecret, misuse, PAGE } from '../../../src/options/misuse.js'

it.each([
  ['Pass a list', 'Pass a list.'],
  ['Pass a list.', 'Pass a list.'],
  ['Is a list missing?', 'Is a list missing?'],
  ['Pass 1.5 or "a?"', 'Pass 1.5 or "a?".'],
])('the error for a mistake is a TypeError that names a page after one full stop: %s', (message, ended) => {
  const error = misuse(message, PAGE.options)
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toBe(`${ended} See express-token-endpoint/docs/reference/options.md`)
  expect(misuse(`jwksRouter: ${message}`).message).toMatch(/See express-token-endpoint\/docs\/reference\/options\.md$/)
  expect(misuse(`createAuth: ${message}`).message).toMatch(/See express-token-endpoint\/docs\/reference\/login\.md$/)
  expect(misuse(message, PAGE.keys).message).toBe(`${ended} See express-token-endpoint/docs/guides/keys.md`)
})

it('an error of this package holds no secret, and another one may', () => {
  expect(hasNoSecret(misuse('Pass a list', PAGE.options))).toBe(true)
  expect(hasNoSecret(new TypeError('Pass a list'))).toBe(false)
})
