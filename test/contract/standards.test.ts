import express from 'express'
import { tokenRouter } from 'express-token-endpoint'
import { createTokenClient } from 'express-token-endpoint/client'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ACCOUNTS, decodePayload, fastPasswords, ISSUER, makeIssuer, makeStore } from '../support/fixtures.js'
import { asForm, asJson, expectBadRequest, expectToken, GOOD, GOOD_FORM, send } from '../support/host.js'
import { listen, TOKEN_PATH } from '../support/http.js'

// Demands of `docs/evidence/standards.md` and `standards-asvs.md` that no other suite shows.

const app = () =>
  express().use(tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }))

afterEach(() => {
  vi.useRealTimers()
})

it('a password stays valid for years (OWASP ASVS 6.2.10)', async () => {
  const { port } = await listen(app())
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const years of [0, 1, 10, 50]) {
    vi.setSystemTime(new Date(Date.UTC(2026 + years, 0)))
    expectToken(await send(port, asJson(GOOD)))
  }
})

describe('RFC 9700 section 2.4: the token call is not the password grant of OAuth', () => {
  it('the request of the grant is refused', async () => {
    const { port } = await listen(app())
    const { email, password } = GOOD
    const grant = new URLSearchParams({ grant_type: 'password', username: email, password, client_id: 'app' })
    expectBadRequest(await send(port, asForm(grant.toString())))
  })
})

it('RFC 9700 section 4.15: a client chooses neither sub nor client_id', async () => {
  const { port } = await listen(app())
  const { id } = ACCOUNTS.bob
  const claims = { grant_type: 'password', id, sub: id, client_id: id, iss: id, aud: id, scope: 'admin' }
  const { authenticationToken } = expectToken(await send(port, asJson({ ...GOOD, ...claims, claims })))
  const { iat: _iat, exp: _exp, jti: _jti, ...payload } = decodePayload(authenticationToken)
  expect(payload).toEqual({
    iss: ISSUER,
    aud: ISSUER,
    sub: ACCOUNTS.alice.id,
    client_id: ISSUER,
    scope: 'reports:read',
  })
})

describe('RFC 9700 section 4.12: redirects', () => {
  it('the token endpoint sends none', async () => {
    const { port } = await listen(app())
    const paths = [TOKEN_PATH, `${TOKEN_PATH}/`, `${TOKEN_PATH}?redirect_uri=https://evil.example`, `/${TOKEN_PATH}`]
    const statuses = new Set<number>()
    for (const path of paths) {
      for (const sent of [asJson(GOOD), asForm(GOOD_FORM), asJson({ ...GOOD, password: 'wrong' }), { method: 'GET' }]) {
        const { status, headers } = await send(port, { ...sent, path })
        expect(headers).not.toHaveProperty('location')
        statuses.add(status)
      }
    }
    expect([...statuses].sort()).toEqual([200, 403, 404, 405])
  })

  it.each([301, 302, 303, 307, 308])('the client sends no password after a %i', async (status) => {
    const seen: string[] = []
    const other = await listen(
      express().use((req, res) => {
        seen.push(`${req.method} ${req.url}`)
        res.sendStatus(500)
      }),
    )
    const { url } = await listen(express().use((_req, res) => res.redirect(status, other.url)))
    const api = createTokenClient({ url, credentials: () => GOOD })
    onTestFinished(() => api.close())
    await expect(api.token()).rejects.toMatchObject({ code: 'unexpected' })
    expect(seen).toEqual([])
  })
})
