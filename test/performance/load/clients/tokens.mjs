import { createTokenClient } from 'express-token-endpoint/client'
import { subjectOf } from './requests.mjs'

/**
 * Signs a person in at a port, where only the token matters.
 * @throws Error for another account's token
 */
export async function tokenFor(port, { id, email, password }) {
  const url = `http://127.0.0.1:${port}`
  const token = await createTokenClient({ url, credentials: () => ({ email, password }) }).token()
  if (subjectOf(token) !== id) throw new Error("a login: another account's token")
  return token
}

/** Signs people in one after the other. Returns their tokens by person. */
export async function tokensFor(port, people) {
  const tokens = new Map()
  for (const person of people) tokens.set(person, await tokenFor(port, person))
  return tokens
}
