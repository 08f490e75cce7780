import { createTokenClient } from 'express-token-endpoint/client'

/** Signs a person in at a port, where only the token matters. */
export const tokenFor = (port, { email, password }) =>
  createTokenClient({ url: `http://127.0.0.1:${port}`, credentials: () => ({ email, password }) }).token()

/** Signs people in one after the other. Returns their tokens by person. */
export async function tokensFor(port, people) {
  const tokens = new Map()
  for (const person of people) tokens.set(person, await tokenFor(port, person))
  return tokens
}
