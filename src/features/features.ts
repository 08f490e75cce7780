import type { Endpoint, Mounted } from '../http/endpoint.js'
import { apiKeysFeature } from './api-keys.js'
import { changeAddressFeature } from './change-address.js'
import { changePasswordFeature } from './change-password.js'
import { deletionFeature } from './deletion.js'
import { endpointsOf, type Feature, type FeaturePaths, mount } from './feature.js'
import { keysFeature } from './keys.js'
import { passkeySignInFeature, passkeysFeature } from './passkeys.js'
import { passwordResetFeature } from './password-reset.js'
import { refreshFeature } from './refresh/refresh.js'
import { secondFactorFeature } from './second-factor.js'
import { sessionsFeature } from './sessions.js'
import { signInFeature } from './sign-in.js'
import { signInByMailFeature } from './sign-in-by-mail.js'
import { signUpFeature } from './sign-up.js'
import { stepUpFeature } from './step-up.js'

/** The features of an app. Their options, their routers and their documents follow from this list. */
export const FEATURES = {
  signIn: signInFeature,
  refresh: refreshFeature,
  keys: keysFeature,
  sessions: sessionsFeature,
  stepUp: stepUpFeature,
  signUp: signUpFeature,
  passwordReset: passwordResetFeature,
  changePassword: changePasswordFeature,
  changeAddress: changeAddressFeature,
  deletion: deletionFeature,
  signInByMail: signInByMailFeature,
  secondFactor: secondFactorFeature,
  apiKeys: apiKeysFeature,
  passkeys: passkeysFeature,
  passkeySignIn: passkeySignInFeature,
} satisfies Record<string, Feature>

type Name = keyof typeof FEATURES
type PartsOf<F> = F extends Feature<infer P> ? P : never

/** The dependencies of the features of an app. Undefined for a feature that is off. */
export type AppParts = { readonly [N in Name]: PartsOf<(typeof FEATURES)[N]> | undefined }

const NAMES = Object.keys(FEATURES) as Name[]

/** Returns the endpoints of the features that are on, with their dependencies. */
export const mountAll = (paths: FeaturePaths, parts: AppParts): Mounted[] =>
  NAMES.flatMap((name) => {
    const feature: Feature = FEATURES[name]
    return parts[name] === undefined ? [] : mount(feature, paths[feature.at], parts[name] as never)
  })

/** Returns the endpoints of the features that are on, for documents. */
export const endpointsAt = (
  paths: FeaturePaths,
  isOn: Readonly<Partial<Record<Name, boolean>>>,
): { at: string; endpoint: Endpoint }[] =>
  NAMES.filter((name) => isOn[name]).flatMap((name) => {
    const feature: Feature = FEATURES[name]
    return endpointsOf(feature).map((endpoint) => ({ at: paths[feature.at], endpoint }))
  })
