import { reasonOf } from '../../shared/host/describe-error.js'
import { isExposed, withoutEndSlashes } from '../../shared/urls.js'
import { isPlainObject, own, parseJson } from '../../shared/values.js'
import { fetchedKeys, type RemoteKeys } from './remote-keys.js'
import { type RemoteKeysOptions, readDiscoverKeysOptions } from './remote-keys-options.js'

/**
 * Finds and fetches the keys of an identity provider. At the first token, reads the provider's metadata: first OpenID Connect Discovery
 * 1.0 (`/.well-known/openid-configuration`), then RFC 8414 (`/.well-known/oauth-authorization-server`). The `issuer` in the metadata must
 * be exactly the given issuer. The keys are then fetched and cached as `remoteKeys` does, with the same options, limits and rules for
 * outages. After a fetch of keys has failed, the metadata is read again.
 *
 * No part of a token chooses a URL. Each of the fetches has the limits on time and size, and follows no redirect.
 *
 * @param issuer the provider's issuer, exactly as in its tokens (`iss`): `https:`, or `http:` on loopback
 * @throws TypeError that names the invalid issuer or option
 */
export function discoverKeys(issuer: string | undefined, options: RemoteKeysOptions = {}): RemoteKeys {
  const read = readDiscoverKeysOptions(issuer, options)
  let found: string | undefined
  return fetchedKeys(read, async (get) => {
    const url = found ?? (await discover(read.location, get))
    found = undefined
    const text = await get(url)
    found = url
    return text
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
    throw new Error(`the metadata is of another issuer${differsBySlash ? ', which differs by a slash at its end' : ''}`)
  }
  const address = own(metadata, 'jwks_uri')
  if (typeof address !== 'string' || !URL.canParse(address)) throw new Error('the metadata has no "jwks_uri"')
  const url = new URL(address)
  const isSafe = url.protocol === 'https:' || (url.protocol === new URL(issuer).protocol && !isExposed(url))
  if (!isSafe || url.username || url.password) throw new Error('the "jwks_uri" of the metadata is not an https: URL')
  url.hash = ''
  return url.href
}
