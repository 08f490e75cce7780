import type express from 'express'
import type { TokenIssuer } from 'express-token-endpoint'
import request from 'supertest'
import { TOKEN_PATH } from '../../../support/http.js'

/** The declarations of most blocks or their contexts. */
export interface Host {
  app: express.Express
  tokens: TokenIssuer
}

/** Signs in with the account of the contexts. */
export const signIn = (app: express.Express, path = TOKEN_PATH) =>
  request(app).post(path).send({ email: 'alice@example.com', password: 'secret' })

/** Signs in and returns the token. */
export async function tokenFrom(app: express.Express, path?: string): Promise<string> {
  const { body } = await signIn(app, path).expect(200)
  return body.authenticationToken
}

/** Sends a request with a token. */
export const get = (app: express.Express, path: string, token: string) =>
  request(app).get(path).auth(token, { type: 'bearer' })
