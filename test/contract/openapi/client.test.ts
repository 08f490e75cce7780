import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { authOf, requireBearer, tokenRouter } from 'express-token-endpoint'
import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { typeErrors } from '../../support/documents/compiler.js'
import { fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { listen } from '../../support/http.js'

const folder = fileURLToPath(new URL('.openapi', import.meta.url))

/** A client that somebody writes with only the document. */
const CLIENT = `import createClient from 'openapi-fetch'
import type { paths } from './api.js'

export async function accountOf(baseUrl: string, email: string, password: string) {
  const client = createClient<paths>({ baseUrl })
  const login = await client.POST('/api/v2013/authentication/token', { body: { email, password } })
  if (!login.data) return { status: login.response.status, error: login.error }
  const { authenticationToken, expiration } = login.data
  const headers = { Authorization: \`Bearer \${authenticationToken}\` }
  const { data, error, response } = await client.GET('/houses/{house}/account', { params: { path: { house: 'north' } }, headers })
  return { status: response.status, account: data?.account, code: error?.code, expiration }
}

`

/** Lines that must not compile. The compiler reports a line that does. */
const MISTAKES = `import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

const client = createClient<paths>({ baseUrl: 'https://api.example.com' })
const email = 'alice@example.com'
// @ts-expect-error a login takes a password
export const a = () => client.POST('/api/v2013/authentication/token', { body: { email } })
// @ts-expect-error which is text
export const b = () => client.POST('/api/v2013/authentication/token', { body: { email, password: 1 } })
// @ts-expect-error there is nothing to GET
export const c = () => client.GET('/api/v2013/authentication/token')
// @ts-expect-error the result has no third member
export const d = (result: components['schemas']['TokenResult']) => result.refreshToken
// @ts-expect-error a guard does not answer with the token call's codes
export const e: components['responses']['Bearer401']['content']['application/problem+json']['code'] = 'invalid_body'
// @ts-expect-error the host's own operation has its parameter
export const f = () => client.GET('/houses/{house}/account')
`

describe('a client generated from the document', () => {
  beforeAll(async () => {
    const document = openApiDocument()
    document.components.schemas['Account'] = {
      type: 'object',
      required: ['account'],
      properties: { account: { type: 'string' } },
    }
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Account' } } }
    const parameters = [{ name: 'house', in: 'path', required: true, schema: { type: 'string' } }]
    const operation = { parameters, responses: { 200: { description: 'Whose token it is.', content } } }
    document.paths['/houses/{house}/account'] = { get: guardedOperation(operation, { scope: 'reports:read' }) }

    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/api.ts`, astToString(await openapiTS(JSON.stringify(document))))
    writeFileSync(`${folder}/client.ts`, CLIENT)
    writeFileSync(`${folder}/mistakes.ts`, MISTAKES)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is one that a strict compiler takes, which finds mistakes in its use', () => {
    expect(typeErrors([`${folder}/client.ts`, `${folder}/mistakes.ts`])).toBe('')
  })

  it('signs in and calls a guarded route', async () => {
    const tokens = makeIssuer()
    const app = express().use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords() }))
    app.get('/houses/:house/account', requireBearer({ tokens, scope: 'reports:read' }), (req, res) => {
      res.json({ account: authOf(req).accountId })
    })
    const { url } = await listen(app)
    const { accountOf } = (await import(/* @vite-ignore */ `${folder}/client.ts`)) as {
      accountOf(baseUrl: string, email: string, password: string): Promise<unknown>
    }
    const expiration = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/)
    expect(await accountOf(url, 'alice@example.com', PASSWORD)).toEqual({ status: 200, account: 'acc-1', expiration })
    expect(await accountOf(url, 'bob@example.com', PASSWORD)).toEqual({
      status: 403,
      code: 'insufficient_scope',
      expiration,
    })
    // docs/guides/client.md says so: openapi-fetch has no error for an empty body.
    expect(await accountOf(url, 'alice@example.com', 'wrong')).toStrictEqual({ status: 403, error: undefined })
  })
})
