import { createApiFetch } from './api-fetch.js'
import { readClientOptions, type TokenClientOptions } from './client-options.js'
import type { HeadersRequest, TokenClient, TokenRequest } from './client-types.js'
import { createTokenHolder } from './token-holder.js'

/**
 * Creates a client that signs in when a call needs a token, and again before the token expires. All calls share one sign-in. The
 * client keeps the token in memory only, and no object that it returns shows the token.
 * @throws TypeError for an invalid option
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  const settings = readClientOptions(options)
  const holder = createTokenHolder(settings)
  const { fetch, checkUrl } = createApiFetch(settings, holder)

  const token = async (request: TokenRequest = {}) => (await holder.get(request)).grant.token
  return {
    fetch,
    token,
    async headers({ url, ...request }: HeadersRequest = {}) {
      if (url !== undefined) checkUrl(url)
      return { Authorization: `Bearer ${await token(request)}` }
    },
    signOut: holder.signOut,
    onChange: holder.onChange,
    close: holder.close,
  }
}
