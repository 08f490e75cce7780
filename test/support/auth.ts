import { type Account, type AuthOptions, createAuth } from 'express-token-endpoint'
import { fastPasswords, ISSUER, SECRET } from './fixtures.js'

type Options<A extends Account> = Partial<AuthOptions<A>> & Pick<AuthOptions<A>, 'accounts'>

/** Creates the authentication of an app with quick passwords, and without failed-login limits. */
export const authWith = <A extends Account>(options: Options<A>) =>
  createAuth<A>({
    issuer: ISSUER,
    keys: { alg: 'HS256', secret: SECRET },
    passwords: fastPasswords(),
    limits: false,
    ...options,
  })

/** Creates the login of such an app. */
export const logInWith = <A extends Account>(options: Options<A>) => authWith(options).logIn
