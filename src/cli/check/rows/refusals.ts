import type { Probe } from '../probe/probe.js'
import { mustBe } from '../probe/responses.js'
import type { Answer } from '../probe/send.js'
import { must, type Row } from '../verdict.js'

/** Rows about logins with invalid credentials. */
export const refusalRows: readonly Row<Probe>[] = [
  {
    id: 'wrong-password',
    title: 'a wrong password gets 403',
    source: 'docs/reference/http.md section 3',
    async run({ answers }) {
      mustBe(403, await answers.wrong(), 'a wrong password')
    },
  },
  {
    id: 'empty-403',
    title: 'invalid credentials get an empty body',
    source: 'docs/reference/http.md section 3',
    async run({ answers }) {
      const { body, headers } = await answers.wrong()
      must(body === '', `the body has ${Buffer.byteLength(body)} bytes`)
      must(headers['content-length'] === '0', `Content-Length is ${headers['content-length'] ?? 'missing'}, not 0`)
    },
  },
  {
    id: 'same-refusal',
    title: 'an unknown e-mail gets the same status, headers and body as a wrong password',
    source: 'OWASP ASVS 5, 6.3.8',
    async run({ answers }) {
      const [wrong, again, unknown] = [await answers.wrong(), await answers.spaced(), await answers.unknown()]
      must(wrong.status === unknown.status, `an unknown e-mail is ${unknown.status}, a wrong password ${wrong.status}`)
      must(wrong.body === unknown.body, 'the bodies differ')
      // A header that differs between two refusals of one kind (an id, a counter) reveals nothing about the account.
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
    async run({ answers }) {
      mustBe(403, await answers.spaced(), 'the password with a space at its end')
    },
  },
]

function differing(one: Answer, two: Answer): string[] {
  const names = new Set([...Object.keys(one.headers), ...Object.keys(two.headers)])
  return [...names].filter((name) => String(one.headers[name]) !== String(two.headers[name]))
}
