import { isPlainObject, parseJson } from '../../../options/values.js'
import type { Probe } from '../probe/probe.js'
import { mustBe } from '../probe/responses.js'
import type { Received } from '../probe/send.js'
import { must, type Row, Unjudged } from '../verdict.js'
import { loginBody } from '../wire/login-body.js'
import { orOf } from '../wire/wire.js'
import { loginOf } from './token-response.js'

/** The last row, because it uses up the failed logins of an address. */
export const guessingRows: readonly Row<Probe>[] = [
  {
    id: 'guessing',
    title: 'wrong passwords for one address are limited with 429',
    source: 'OWASP ASVS 5, 6.3.1; RFC 6585 section 4',
    async run({ target, wire, mark, send }) {
      const { guesses } = target
      if (!guesses) throw new Unjudged('pass --guesses N to send up to N wrong passwords')
      for (let guess = 1; guess <= guesses; guess++) {
        const { type, body } = loginBody(wire, { user: `${mark}@nobody.invalid`, password: `${mark}${guess}` })
        const headers = { 'Content-Type': type, ...wire.login.headers }
        if ((await send(target.token, { method: wire.login.method, headers, body })).status === 429) return
      }
      must(false, `${guesses} wrong passwords are not limited`)
    },
  },
]

/** Rows about logins with invalid credentials. */
export const refusalRows: readonly Row<Probe>[] = [
  {
    id: 'wrong-password',
    title: ({ statuses }) => `a wrong password gets ${orOf(statuses.wrongPassword)}`,
    source: 'docs/reference/http.md section 3',
    run: async ({ responses, wire }) =>
      mustBe(wire.statuses.wrongPassword, await responses.wrong(), 'a wrong password'),
  },
  {
    id: 'empty-403',
    title: 'invalid credentials get an empty body',
    source: 'docs/reference/http.md section 3',
    ownOnly: 'only this package promises an empty body',
    async run({ responses }) {
      const { body, headers } = await responses.wrong()
      must(body === '', `the body has ${Buffer.byteLength(body)} bytes`)
      must(headers['content-length'] === '0', 'Content-Length is not 0')
    },
  },
  {
    id: 'same-refusal',
    title: 'an unknown e-mail gets the same status, headers and body as a wrong password',
    source: 'OWASP ASVS 5, 6.3.8',
    async run({ responses }) {
      const [wrong, again, unknown] = [await responses.wrong(), await responses.spaced(), await responses.unknown()]
      must(wrong.status === unknown.status, `an unknown e-mail is ${unknown.status}, a wrong password ${wrong.status}`)
      // A value that differs between two refusals of one kind (an id, a time) reveals nothing about the account.
      const restlessBody = again.status === wrong.status && again.body !== wrong.body
      const bodyOf = restlessBody ? shapeOf : ({ body }: Received) => body
      must(bodyOf(wrong) === bodyOf(unknown), 'the bodies differ')
      const restless =
        again.status === wrong.status ? differing(wrong, again).filter((name) => name in unknown.headers) : []
      const telling = differing(wrong, unknown).filter((name) => name !== 'date' && !restless.includes(name))
      must(telling.length === 0, `these headers differ: ${telling.join(', ')}`)
    },
  },
  {
    id: 'password-exact',
    title: 'a password with a space at its end is another password',
    source: 'OWASP ASVS 5, 6.2.8',
    async run(probe) {
      await loginOf(probe)
      const spaced = await probe.responses.spaced()
      mustBe(probe.wire.statuses.wrongPassword, spaced, 'the password with a space at its end')
    },
  },
]

function differing(one: Received, two: Received): string[] {
  const names = new Set([...Object.keys(one.headers), ...Object.keys(two.headers)])
  return [...names].filter((name) => String(one.headers[name]) !== String(two.headers[name]))
}

/** Returns the names of all members, without their values. */
function shapeOf({ body }: Received): string {
  const names = (value: unknown): unknown =>
    isPlainObject(value) ? Object.entries(value).map(([name, inner]) => [name, names(inner)]) : typeof value
  return JSON.stringify(names(parseJson(body)))
}
