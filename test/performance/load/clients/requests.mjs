import { bearer, login as credentials } from '../../../support/plain-js/http-client.mjs'
import { decodePayload, headerOf, withOtherSignature } from '../../../support/plain-js/token-forger.mjs'

export const SIGN_OUT_PATH = '/api/v2013/sign-out'
export const REPORT_PATH = '/api/v2013/reports/daily-totals'
export const statementsPath = (house) => `/api/v2013/houses/${house}/statements`

/*
 * Creates a request with its kind and a check of the response. `check` returns undefined for a right response, and otherwise a
 * description that contains no secret.
 */

const expecting = (status) => (answer) =>
  answer.status === status ? undefined : `${answer.status} instead of ${status}`

/** Requests an account's statements in one house. The response must contain exactly its own statements. */
export const statements = (person, house, token) => ({
  kind: 'statements',
  request: bearer(token, statementsPath(house)),
  check(answer) {
    if (answer.status !== 200) return `${answer.status} instead of 200`
    const expected = `"statements":${person.statements[house]}}`
    return answer.body.endsWith(expected) ? undefined : "not this account's statements"
  },
})

/** Requests an account's daily totals. The response must contain one statement a day, all its own. */
export const report = (person, token) => ({
  kind: 'report',
  request: bearer(token, REPORT_PATH),
  check(answer) {
    if (answer.status !== 200) return `${answer.status} instead of 200`
    const totals = JSON.parse(answer.body).houses.map(({ id, days }) => [id, days.map(({ total }) => total)])
    return JSON.stringify(totals) === JSON.stringify(person.totals) ? undefined : "not this account's totals"
  },
})

export const refused = (kind, status, token, path = statementsPath('north')) => ({
  kind,
  request: token === undefined ? { method: 'GET', path } : bearer(token, path),
  check: expecting(status),
})

export const signOut = (token) => ({
  kind: 'sign-out',
  request: { ...bearer(token, SIGN_OUT_PATH), method: 'POST' },
  check: expecting(204),
})

/** Signs in. The request has a forged `X-Forwarded-For`, which nginx replaces with the client's address. */
export const login = (person) => ({
  kind: 'login',
  request: credentials(person.email, person.password),
  check(answer) {
    if (answer.status !== 200) return `${answer.status} instead of 200`
    return subjectOf(tokenOf(answer)) === person.id ? undefined : "another account's token"
  },
})

export const guess = (email, kind = 'wrong password') => ({
  kind,
  request: credentials(email, 'a guess'),
  check: (answer) =>
    expecting(403)(answer) ?? (answer.body === '' ? undefined : 'a body with the refusal of credentials'),
})

export const tokenOf = ({ body }) => JSON.parse(body).authenticationToken

export const subjectOf = (token) => decodePayload(token).sub
export const kidOf = (token) => headerOf(token).kid
export { withOtherSignature as forged }
