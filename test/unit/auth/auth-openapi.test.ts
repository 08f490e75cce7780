// Tests auth/create-auth.ts

import type { AuthOptions, MemoryAccount } from 'express-token-endpoint'
import { openApiDocument } from 'express-token-endpoint/openapi'
import { describe, expect, it } from 'vitest'
import { sessionsFeature } from '../../../src/features/sessions.js'
import { startAuth } from '../../support/auth-app.js'
import { signingKey } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'

const PATHS_OF_SESSIONS = new Set(sessionsFeature.endpoints.map(({ path }) => path.replace(/^\/$/, '')))

describe('auth.openApi', () => {
  it.each<[string, Partial<AuthOptions<MemoryAccount & { team: string }>>, string]>([
    ['a cookie', { refresh: 'cookie', extraFields: ['code'] }, ''],
    ['keys and a mount path', { refresh: () => 'body', keys: [signingKey('ES256')], mountPath: '/api' }, '/api'],
    ['paths', { paths: { token: '/in', sessions: '/devices' } }, ''],
    ['no sessions', { store: undefined }, ''],
  ])('describes the routes that the router has, and their members: with %s', async (_, options, mount) => {
    const { auth, send } = await startAuth(options, mount)
    const { paths, components } = openApiDocument(auth.openApi)
    for (const [path, item] of Object.entries(paths))
      for (const method of Object.keys(item)) {
        const { status } = await send({ method: method.toUpperCase(), path: path.replace('{id}', 'a') })
        expect([200, 204, 400, 401, 403, 415], `${method} ${path}`).toContain(status)
      }
    expect(auth.openApi.refresh).toBe(typeof options.refresh === 'function' || options.refresh)
    const tokenPath = mount + (options.paths?.token ?? TOKEN_PATH)
    const hasSessions = !('store' in options)
    expect(Object.keys(paths)).toEqual([
      tokenPath,
      ...(options.refresh ? [`${tokenPath}/refresh`, `${tokenPath}/sign-out`] : []),
      ...(options.keys ? [`${mount}/.well-known/jwks.json`] : []),
      ...(hasSessions
        ? [...PATHS_OF_SESSIONS].map((path) => `${mount}${options.paths?.sessions ?? '/sessions'}${path}`)
        : []),
      ...(hasSessions ? [`${tokenPath}/confirm`] : []),
    ])
    const { properties } = components.schemas['TokenCredentials'] as { properties: object }
    expect(Object.keys(properties)).toEqual([
      'email',
      'password',
      ...(options.extraFields ?? []),
      ...(options.refresh === undefined ? [] : ['remember']),
    ])
  })
})
