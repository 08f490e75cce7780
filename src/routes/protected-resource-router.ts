import type { Router } from 'express'
import { resourceResponse } from '../http/responses.js'
import { scopeList, text } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { type Check, InvalidOption, named, optional, readOptions } from '../options/read-options.js'
import { withoutEndSlashes } from '../options/urls.js'
import { secureExactUrl } from '../options/web-url.js'
import { documentRouter } from './document-router.js'

/** The options of `protectedResourceRouter`. */
export interface ProtectedResourceOptions {
  /**
   * The URL of this API (`resource`), exactly as its clients write it: `https:`, or `http:` on loopback. Its path has no pattern.
   * RFC 9728 section 1.2.
   */
  resource: string | undefined
  /** The issuers whose tokens the API accepts (`authorization_servers`): 1 to 32 URLs, `https:`, or `http:` on loopback. */
  authorizationServers: readonly string[]
  /** The scopes that a client may need (`scopes_supported`): an array, or a string with spaces between them. Default: omitted. */
  scopes?: string | readonly string[] | undefined
  /** The name of the API for people (`resource_name`). Default: omitted. */
  name?: string | undefined
  /** The URL of a page for developers (`resource_documentation`). Default: omitted. */
  documentation?: string | undefined
}

/** The router of the metadata. */
export interface ProtectedResourceRouter extends Router {
  /** The URL of the metadata, for the option `resourceMetadata` of the guard. */
  readonly url: string
}

const safeUrl = secureExactUrl('an https: URL', 'Use http only for loopback')

const MOST_SERVERS = 32

const serverList: Check<readonly string[]> = (value) => {
  const list: unknown[] = Array.isArray(value) ? [...value] : []
  if (list.length === 0 || list.length > MOST_SERVERS) {
    throw new InvalidOption(`an array of 1 to ${MOST_SERVERS} URLs of issuers`)
  }
  return list.map(safeUrl)
}

const schema = {
  resource: safeUrl,
  authorizationServers: serverList,
  scopes: optional(scopeList),
  name: optional(text('a non-empty string')),
  documentation: optional(safeUrl),
}

const aliases = { authorization_servers: 'authorizationServers', issuers: 'authorizationServers', url: 'resource' }

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * Creates the router that publishes the metadata of this API (RFC 9728), for clients that look for its authorization servers, such as MCP
 * clients. Use it at the root of the app. It responds to `GET` and `HEAD` at `/.well-known/oauth-protected-resource`, followed by the path
 * of `resource`. Caches may keep the metadata for five minutes.
 * @throws TypeError naming the option that is not valid
 */
export function protectedResourceRouter(options: ProtectedResourceOptions): ProtectedResourceRouter {
  const caller = 'protectedResourceRouter'
  const read = readOptions<ProtectedResourceOptions, typeof schema>(caller, options, schema, aliases)
  const { resource, authorizationServers, scopes, name, documentation } = read
  const { origin, pathname } = new URL(resource)
  const path = named(`${caller}: the path of "resource"`, plainPath, WELL_KNOWN + withoutEndSlashes(pathname))
  const metadata = {
    resource,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    scopes_supported: scopes,
    resource_name: name,
    resource_documentation: documentation,
  }
  const response = resourceResponse(JSON.stringify(metadata))
  return Object.assign(
    documentRouter(path, () => response),
    { url: origin + path },
  )
}
