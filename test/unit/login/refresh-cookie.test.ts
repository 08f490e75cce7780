// Tests http/refresh-cookie-name.ts
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { cookieValues, deleteCookie } from '../../../src/login/refresh-cookie.js'

describe('the refresh cookie', () => {
  it('is not added to a response that the host has sent, because Node would throw', () => {
    const res = { headersSent: true, getHeader() {}, setHeader: () => expect.fail('sent') }
    expect(() =>
      deleteCookie(res as never as ServerResponse, '/token', { sites: '', ofEverySite: false, path: undefined }),
    ).not.toThrow()
  })

  it.each([
    ['after several spaces and tabs', 'theme=dark; \t __Secure-refresh=a.0.b', ['a.0.b']],
    ['of another name, which ends the same', 'x__Secure-refresh=a.0.b', []],
    ['of a name with a space', '__Secure- refresh=a.0.b', []],
    ['after a space that only scripts can write', '\u00a0__Secure-refresh=a.0.b', []],
  ])('is read from a header %s', (_, cookie, values) => {
    expect(cookieValues({ headers: { cookie }, rawHeaders: ['Cookie', cookie] } as never)).toEqual(values)
  })
})
