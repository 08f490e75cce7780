import { bearer, createClient } from '../../support/plain-js/http-client.mjs'

/**
 * Checks a guard before it is measured, because a guard that accepts everything is fast and useless.
 * @param accepts token → whether the guard lets it through
 * @throws Error with the guard's name, never with a token
 */
export async function checkGuard(name, accepts, { good, forged, expired }) {
  if (!(await accepts(good))) throw new Error(`${name}: refuses a good token`)
  if (await accepts(forged)) throw new Error(`${name}: accepts a bad signature`)
  if (await accepts(expired)) throw new Error(`${name}: accepts an expired token`)
  // The second check uses the cache, which must refuse the invalid tokens and accept the valid token.
  if (!(await accepts(good))) throw new Error(`${name}: refuses a good token that it has seen`)
  if (await accepts(forged)) throw new Error(`${name}: accepts a bad signature that it has seen`)
}

/** Checks the guard of a route over HTTP. */
export async function checkRoute(name, port, path, samples) {
  const { send, close } = createClient(port, { connections: 1 })
  await checkGuard(name, async (token) => (await send(bearer(token, path))).status === 200, samples)
  close()
}
