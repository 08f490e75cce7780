import { describe, expect, it } from 'vitest'
import { plainPath } from '../../../src/options/plain-path.js'

describe('a path of the host’s own', () => {
  it.each(['/', '/token', '/v1.0/~token_x-y', '/a/b/c'])(
    'is taken when every character of it is literal: %j',
    (path) => {
      expect(plainPath(path)).toBe(path)
    },
  )

  it.each(['', 'token', '/token/', '//', '/a//b', '/:id', '/a*', '/a?', '/(a)', '/a b', '/a\n', 'x/a', ' /', 7])(
    'is refused otherwise: %j',
    (path) => {
      const expected = "a path like '/token' or '/', without patterns and without a trailing slash"
      expect(() => plainPath(path)).toThrow(expected)
    },
  )
})
