import type { FoundAccount } from '../accounts/account.js'
import { AuthError } from '../errors/auth-error.js'
import { SignInRefusal } from '../errors/sign-in-refusal.js'
import type { Factors } from '../factors/factors.js'
import type { ExtraFields } from './read-credentials.js'

/** The member of a body with the code of a second factor. */
export const OTP = 'otp'

/** A sign-in after the step of the second factor. */
export interface FactorChecked {
  /** The authentication methods that the factor adds (RFC 8176). */
  added: readonly string[]
  /**
   * Refuses a sign-in without a factor whose account has got one meanwhile. Called after its session has started.
   * @throws AuthError `invalid_credentials`, `unavailable`
   */
  recheckFactor?: () => Promise<void>
}

/**
 * Refuses a code that is not a text, as every other member of a body. `null` counts as absent, as the empty field of a form does.
 * @throws AuthError `invalid_body`
 */
export function assertCodeText(fields: ExtraFields): void {
  const code = fields[OTP] ?? ''
  if (typeof code !== 'string')
    throw new AuthError('invalid_body', { message: 'The member "otp" of the request body must be a string.' })
}

/**
 * Asks for the second factor of an account that has one.
 * @throws SignInRefusal `code_required`, which counts nothing, and `wrong_code`, which counts as a failed login; AuthError `unavailable`, and
 * `invalid_body` for a code that is not a text
 */
export type SecondFactorStep = (found: FoundAccount, fields: ExtraFields) => Promise<FactorChecked>

const codeRequired = () =>
  new SignInRefusal('code_required', { detail: 'This account has a second factor. Send its code as "otp".' })
const wrongCode = () =>
  new SignInRefusal('wrong_code', { detail: 'The code is wrong or already used.', countAsFailure: true })

/** The refusals of {@link SecondFactorStep} that a client gets. */
export const FACTOR_REFUSALS: readonly SignInRefusal[] = [codeRequired(), wrongCode()]

/** The member of a body with the code, for the schema of a sign-in. */
export const OTP_MEMBER = {
  [OTP]: {
    type: 'string',
    description: 'The code of the authenticator app, or a recovery code. An account with a second factor needs it.',
    examples: ['123456'],
  },
}

const BOTH: FactorChecked = { added: ['otp', 'mfa'] }

/** Creates the step of a sign-in that asks for the second factor. */
export function secondFactorStep(factors: Pick<Factors, 'isOn' | 'check'>): SecondFactorStep {
  async function assertNone(accountId: string) {
    if (await factors.isOn(accountId)) throw new AuthError('invalid_credentials', { reason: 'superseded', accountId })
  }

  return async function askForCode({ account: { id } }, fields) {
    assertCodeText(fields)
    const code = fields[OTP]
    // A form sends an empty field too.
    const isSent = code !== undefined && code !== null && code !== ''
    if (!(await factors.isOn(id))) return { added: [], recheckFactor: () => assertNone(id) }
    if (!isSent) throw codeRequired()
    const result = typeof code === 'string' ? await factors.check(id, code) : 'wrong'
    if (result !== 'wrong') return BOTH
    throw wrongCode()
  }
}
