import { reasonOf } from '../../events/describe-error.js'
import { isExposed, withoutEndSlashes } from '../../options/urls.js'
import { isPlainObject, own, parseJson } from '../../options/values.js'
import { fetchedKeys, type RemoteKeys } from './remote-keys.js'
import { type RemoteKeysOptions, readDiscoverKeysOptions } from './remote-keys-options.js'

/**
 * Finds and fetches the keys of an identity provider. Reads the provider's metadata: first OpenID Connect Discovery 1.0
 * (`/.well-known/openid-configuration`), then RFC 8414 (`/.well-known/oauth-authorization-server`). The `issuer` in the metadata must be
 * exactly the given issuer. The keys at its `jwks_uri` are cached as `remoteKeys` does, with the same options, limits and rules for
 * outages. Each refresh of the keys reads the metadata again, so keys follow a changed `jwks_uri`.
 *
 * While the metadata cannot be read, or is of another issuer, the keys are refreshed from the last known `jwks_uri`. They verify for
 * `keepFor` after the last refresh that read the metadata too.
 *
 * No part of a token chooses a URL. A refresh has at most 3 fetches, one after the other, and each has the limits on time and size, and
 * follows no redirect.
 *
 * @param issuer the provider's issuer, exactly as in its tokens (`iss`): `https:`, or `http:` on loopback
 * @throws TypeError that names the invalid issuer or option
 */
export function discoverKeys(issuer: string | undefined, options: RemoteKeysOptions = {}): RemoteKeys {
  const read = readDiscoverKeysOptions(issuer, options)
  let keysUrl: string | undefined
  return fetchedKeys(read, async (get, use) => {
    try {
      keysUrl = await discover(read.location, get)
    } finally {
      if (keysUrl !== undefined) use(await get(keysUrl))
    }
  })
}

/** Returns the URLs of an issuer's metadata (OpenID Connect Discovery 1.0 section 4, RFC 8414 section 3.1). */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = withoutEndSlashes(pathname)
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

async function discover(issuer: string, get: (url: string) => Promise<string>): Promise<string> {
  const failures: string[] = []
  for (const url of metadataUrls(issuer)) {
    try {
      return keysUrlIn(await get(url), issuer)
    } catch (error) {
      failures.push(`${url}: ${reasonOf(error)}`)
    }
  }
  throw new Error(`no metadata. ${failures.join('. ')}`)
}

/**
 * Returns the URL of the keys (RFC 8414 section 2, OpenID Connect Discovery 1.0 section 3).
 * @throws Error for the metadata of another issuer; the error shows nothing of the text
 */
function keysUrlIn(text: string, issuer: string): string {
  const metadata = parseJson(text)
  if (!isPlainObject(metadata)) throw new Error('the response is not a JSON object')
  const named = own(metadata, 'issuer')
  if (named !== issuer) {
    const differsBySlash = typeof named === 'string' && withoutEndSlashes(named) === withoutEndSlashes(issuer)
    throw new Error(
      `the metadata is from a different issuer${differsBySlash ? ', which differs only by a trailing slash' : ''}`,
    )
  }
  const address = own(metadata, 'jwks_uri')
  if (typeof address !== 'string' || !URL.canParse(address)) throw new Error('the metadata has no "jwks_uri"')
  const url = new URL(address)
  const isSafe = url.protocol === 'https:' || (url.protocol === new URL(issuer).protocol && !isExposed(url))
  if (!isSafe || url.username || url.password) throw new Error('the "jwks_uri" of the metadata is not an https: URL')
  url.hash = ''
  return url.href
}
