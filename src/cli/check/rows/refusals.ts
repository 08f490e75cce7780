import type { Received } from '../probe/send.js'
import { gets, type Rows } from '../row.js'
import { Fault, must, needed } from '../verdict.js'
import { loginRequest } from '../wire/wire.js'
import { loginOf } from './token-response.js'

/** The last row, because it uses up the failed logins of an address. */
export const guessingRows: Rows = {
  guessing: {
    title: 'wrong passwords for one address are limited with 429',
    source: 'OWASP ASVS 5, 6.3.1; RFC 6585 section 4',
    async run({ target: { guesses, token }, wire, mark, send }) {
      const most = needed(guesses, 'pass --guesses N to send up to N wrong passwords')
      for (let guess = 1; guess <= most; guess++) {
        const members = { user: `${mark}@nobody.invalid`, password: `${mark}${guess}` }
        if ((await send(token, loginRequest(wire, members))).status === 429) return
      }
      throw new Fault(`${most} wrong passwords are not limited`)
    },
  },
}

export const refusalRows: Rows = {
  'wrong-password': {
    title: 'a wrong password gets {wrongPassword}',
    source: 'docs/reference/http.md section 3',
    run: gets('wrongPassword', ({ responses }) => ({ 'a wrong password': responses.wrong })),
  },
  'empty-403': {
    title: 'invalid credentials get an empty body',
    source: 'docs/reference/http.md section 3',
    ownOnly: 'only this package promises an empty body',
    async run({ responses }) {
      const { body, headers } = await responses.wrong()
      must(body === '', `the body has ${Buffer.byteLength(body)} bytes`)
      must(headers['content-length'] === '0', 'Content-Length is not 0')
    },
  },
  'same-refusal': {
    title: 'an unknown e-mail gets the same status, headers and body as a wrong password',
    source: 'OWASP ASVS 5, 6.3.8',
    async run({ responses }) {
      const [wrong, again, unknown] = [await responses.wrong(), await responses.spaced(), await responses.unknown()]
      must(wrong.status === unknown.status, `an unknown e-mail is ${unknown.status}, a wrong password ${wrong.status}`)
      // A value that differs between two refusals of one kind (an id, a time) reveals nothing about the account.
      const twin = again.status === wrong.status ? again : wrong
      must(wrong.body === unknown.body || wrong.body !== twin.body, 'the bodies differ')
      const restless = differing(wrong, twin).filter((name) => name in unknown.headers)
      const telling = differing(wrong, unknown).filter((name) => name !== 'date' && !restless.includes(name))
      must(telling.length === 0, `these headers differ: ${telling.join(', ')}`)
    },
  },
  'password-exact': {
    title: 'a password with a space at its end is another password',
    source: 'OWASP ASVS 5, 6.2.8',
    needs: loginOf,
    run: gets('wrongPassword', ({ responses }) => ({ 'the password with a space at its end': responses.spaced })),
  },
}

function differing(one: Received, two: Received): string[] {
  const names = new Set([...Object.keys(one.headers), ...Object.keys(two.headers)])
  return [...names].filter((name) => String(one.headers[name]) !== String(two.headers[name]))
}
