import {
  type AccountParts,
  ADDRESS_BODY,
  accountCall,
  accountCalls,
  addressOfAccount,
  code,
  email,
  findByAddress,
  hashNew,
  mailCode,
  newAddress,
  newPassword,
  withSent,
} from '../account/account-parts.js'
import { readAccount } from '../accounts/account.js'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { accepted, type Schema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { BY_PASSWORD } from '../login/before-sign-in.js'
import { fieldsIn, rememberIn } from '../login/read-credentials.js'
import { signInWith } from '../login/sign-in-with.js'
import type { SendMail } from '../mail/mail.js'
import type { Defer } from '../mail/mailer.js'
import { func } from '../options/checks.js'
import { type Check, describeList, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { CODES, type Feature, FIND_BY_ID, MAIL, type Need } from './feature.js'
import { withToken } from './sign-in.js'

/** The default path of the account routes. */
export const ACCOUNT_PATH = '/auth/account'

/** The option `signUp` as an object. */
export interface SignUpFields {
  /**
   * Names of further members of the body of `POST /confirm`, which `accounts.create` receives as the client sent them: check them there. Default:
   * `[]`.
   */
  fields?: readonly string[] | undefined
}

/** The options of the mails and of a sign-up in an app. */
export interface SignUpOptions {
  /**
   * Function `({ kind, to, code, details, tenant })` that [sends an
   * email](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#send-emails) after
   * the response. Default: none.
   */
  mail?: SendMail | undefined
  /** Your serverless platform's `waitUntil(promise)` function, which keeps the process running after the response. Default: none. */
  defer?: Defer | undefined
  /**
   * Enables [sign-up](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#sign-up).
   * Pass `true`, or `{ fields }` with the names of additional body members. Requires `mail`. Default: `false`.
   */
  signUp?: boolean | SignUpFields | undefined
}

/** The members of the body that the routes read themselves, and those of an account that no client may choose. */
const TAKEN: readonly string[] = [
  'code',
  'password',
  'remember',
  'email',
  'passwordHash',
  'id',
  'disabled',
  'scopes',
  'claims',
  'lifetime',
  'tokensValidAfter',
  '__proto__',
]

const fieldNames: Check<readonly string[]> = (value) => {
  const isName = (name: unknown) => typeof name === 'string' && name !== '' && !TAKEN.includes(name)
  if (Array.isArray(value) && value.every(isName)) return Object.freeze([...value])
  const hint = 'Clients must not choose members of the account'
  throw new InvalidOption("an array of member names, like ['name']", hint, describeList(isName))
}

const fieldsSchema = { fields: optional(fieldNames, [] as readonly string[]) }

const signUpOption: Check<{ fields: readonly string[] } | undefined> = (value) => {
  if (value === false) return undefined
  if (value !== true && !isPlainObject(value)) throw new InvalidOption("true, or an object like { fields: ['name'] }")
  const given = value === true ? {} : (value as SignUpFields)
  return readOptions<SignUpFields, typeof fieldsSchema>('createAuth: option "signUp"', given, fieldsSchema)
}

export const signUpOptions = {
  mail: optional(func<SendMail>('a function ({ kind, to, code, details, tenant }) => …')),
  defer: optional(func<Defer>('a function (promise) => …')),
  signUp: optional(signUpOption),
}

const CREATE: Need = {
  part: 'accounts.create',
  text: '"accounts" with "create". Use kyselyAccounts, or add the method to your store',
}

export interface SignUpParts extends AccountParts {
  fields: readonly string[]
}

/** Any value is allowed in a further member, because the host checks it. */
const confirmation = (fields: readonly string[]): Schema => ({
  type: 'object',
  required: ['code', 'password'],
  properties: {
    code: code.schema,
    password: newPassword.schema,
    ...Object.fromEntries(fields.map((name) => [name, {}])),
  },
})

/** Creates the account whose mailbox the code has proved. */
async function createAccount(
  parts: SignUpParts,
  call: ReturnType<typeof accountCall>,
  account: { email: string; passwordHash: string },
) {
  const { accounts, timeout } = parts
  const create = async () => readAccount(await accounts.create?.(account, { tenant: call.tenant, req: call.req }))
  const created = await callHost('accounts', create, { timeout, mayRefuse: true })
  if (created) return created
  throw new AuthError('address_taken')
}

/** Sign-up: the owner of the mailbox sets the password, so nobody else can plant one (GHSA-qq9h-g4jm-xgf3). */
export const signUpFeature: Feature<SignUpParts> = {
  at: 'account',
  options: signUpOptions,
  needs: { signUp: [MAIL, CODES, CREATE, FIND_BY_ID] },
  schemas: ({ signUpFields }) => ({ SignUpConfirmation: confirmation(signUpFields), EmailAddress: ADDRESS_BODY }),
  endpoints: [
    endpoint({
      id: 'signUp',
      method: 'POST',
      path: '/',
      body: withSent({ email }, 'EmailAddress'),
      summary: 'Sign up',
      description:
        'Emails a code to the address. The account does not exist yet. To get a new email, send the address again.',
      responses: {
        202: accepted('The code is emailed to the address. The owner of an account that has it gets a notice instead.'),
        422: 'invalid_email',
        429: 'too_many_attempts',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: SignUpParts) => async (call) => {
        const { body, origin, about, refuse } = call
        const of = accountCall(parts, call, body.sent)
        const to = await newAddress(parts, body.email)
        if (to === undefined) throw refuse('invalid_email')
        const { codes, mailer } = parts
        const { tenant } = of
        mailer.accept({ kind: 'sign-up', email: to, tenant, network: origin.network, about }, async (deliver) => {
          const found = await findByAddress(parts, of, to)
          const owner = codes.ownerOf(to, tenant)
          if (!found) return mailCode(parts, of, deliver, { kind: 'sign-up', to, owner })
          if (!mailer.mayMail('sign-up', tenant, found.account.id)) return
          await deliver({ kind: 'address-taken', to: addressOfAccount(found.account), details: {}, tenant })
        })
      },
    }),

    endpoint({
      id: 'confirmSignUp',
      method: 'POST',
      path: '/confirm',
      origin: 'own with cookie',
      body: withSent({ code, password: newPassword }, 'SignUpConfirmation'),
      summary: 'Confirm a sign-up',
      description: 'Creates the account with its password, and signs in.',
      isProblem: true,
      ofHost: true,
      responses: {
        200: { ...withToken, description: 'The token and its expiration time.', ownDescription: 'The token.' },
        403: ['invalid_code', 'invalid_credentials'],
        409: 'address_taken',
        422: 'weak_password',
        503: ['overloaded', 'unavailable'],
      },
      events: 'token',
      calls: accountCalls,
      handle: (parts: SignUpParts) => async (call) => {
        const { body, req, res, origin, about, mode, report, refuse } = call
        const of = accountCall(parts, call, body.sent)
        const found = await parts.codes.find('sign-up', of.tenant, body.code)
        if (!found) throw refuse('invalid_code')
        const passwordHash = await hashNew(parts, origin, body.password)
        const fields = fieldsIn(body.sent, parts.fields)
        const created = await createAccount(parts, of, { ...fields, email: found.to, passwordHash })
        // Afterwards, because a store may refuse all tokens from before the account.
        const lookedUpAt = new Date(Number(parts.tokens.now()))
        report({ type: 'account.created', accountId: created.account.id })
        await parts.codes.removeAll(found.accountId)
        const accountId = created.account.id
        const known = await signInWith(parts, { ...of, ...BY_PASSWORD, found: created, accountId, lookedUpAt })
        return parts.finishSignIn({ ...known, req, res, origin, about, mode, remember: rememberIn(body.sent) })
      },
    }),
  ],
}
