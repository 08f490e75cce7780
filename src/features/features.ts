import type { Mounted } from '../http/endpoint.js'
import type { Feature, FeaturePaths } from './feature.js'
import { keysFeature } from './keys.js'
import { refreshFeature } from './refresh/refresh.js'
import { sessionsFeature } from './sessions.js'
import { signInFeature } from './sign-in.js'

/** The features of an app, by the dependency that each needs. Their routers and their documents follow from this list. */
export const FEATURES = {
  token: signInFeature,
  refresh: refreshFeature,
  keys: keysFeature,
  sessions: sessionsFeature,
} satisfies Record<string, Feature>

/** Returns the endpoints of the features that are on, at their paths. */
export const mountedAt = (
  paths: FeaturePaths,
  isOn: Readonly<Record<keyof typeof FEATURES, boolean>>,
  parts: unknown,
): Mounted[] =>
  (Object.keys(FEATURES) as (keyof typeof FEATURES)[])
    .filter((name) => isOn[name])
    .flatMap((name) => {
      const { at, endpoints }: Feature = FEATURES[name]
      return endpoints.map((endpoint) => ({ at: paths[at], endpoint, parts }))
    })
