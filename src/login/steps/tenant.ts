import type { IncomingMessage } from 'node:http'
import { AuthError } from '../../errors/auth-error.js'
import { misuse } from '../../options/misuse.js'
import { describe } from '../../options/read-options.js'
import { ignoreRejection } from '../../options/values.js'
import type { ExtraFields } from '../body/credentials.js'

/** The option `tenant`: returns the tenant of a sign-in, for example by the host name. */
export type TenantOf<R = IncomingMessage | undefined> = (signIn: { req: R; fields: ExtraFields }) => string

/**
 * Asks the host for the tenant of a sign-in.
 * @throws AuthError `unavailable` when the function fails, because the limits of another tenant must not count the login
 */
export function tenantIn(
  tenantOf: TenantOf | undefined,
  req: IncomingMessage | undefined,
  fields: ExtraFields,
): string | undefined {
  if (!tenantOf) return undefined
  try {
    const tenant: unknown = ignoreRejection(tenantOf({ req, fields }))
    if (typeof tenant === 'string' && tenant !== '') return tenant
    throw misuse(`logIn: option "tenant" must return a non-empty text, but returned ${describe(tenant)}`)
  } catch (cause) {
    throw new AuthError('unavailable', { dependency: 'hook', option: 'tenant', cause })
  }
}
