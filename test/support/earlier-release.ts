import { createHmac, hkdfSync } from 'node:crypto'

/** Makes a refresh token as earlier releases did, which held the terms of its sign-in. */
export function refreshTokenOfBefore(
  secret: string | Uint8Array,
  { sessionId, generation, terms }: { sessionId: string; generation: number; terms?: string | undefined },
  issuer: string,
): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'express-token-endpoint refresh token 1', 32))
  const more = terms === undefined ? [] : [terms]
  const mac = createHmac('sha256', key).update(JSON.stringify([issuer, sessionId, generation, ...more]))
  return [sessionId, generation, ...more, mac.digest('base64url')].join('.')
}
