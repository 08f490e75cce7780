import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { isRepeated } from '../../../../src/http/shared/header-lines.js'

it.each<[boolean, string, readonly string[] | undefined]>([
  [false, 'no header', []],
  [false, 'one line', ['Authorization', 'Bearer a']],
  [true, 'two lines', ['Authorization', 'Bearer a', 'Host', 'x', 'Authorization', 'Bearer b']],
  [true, 'two lines in different letters', ['authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer a']],
  [false, 'a value that is the name', ['Authorization', 'authorization', 'X-Name', 'authorization']],
  [false, 'another header of the same length', ['Authorization', 'Bearer a', 'If-None-Match', '"a"']],
  [false, 'a mock without raw headers', undefined],
])('%s: %s', (expected, _, rawHeaders) => {
  expect(isRepeated({ rawHeaders } as IncomingMessage, 'authorization')).toBe(expected)
})
