import { createHash, createPrivateKey } from 'node:crypto'
import express, { type Response } from 'express'
import type { IdTokenVerifier } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { forge, makeIssuer, signingKey } from '../../../support/fixtures.js'
import { listen } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

/** Starts a provider, and returns a function that writes its ID tokens. */
async function startProvider() {
  const provider = express()
  const { url } = await listen(provider)
  const keys = signingKey('RS256')
  const { kid } = makeIssuer({ keys }).jwks().keys[0] ?? {}
  provider.get(
    '/.well-known/openid-configuration',
    (_req, res) => void res.json({ issuer: url, jwks_uri: `${url}/keys` }),
  )
  provider.get('/keys', (_req, res) => void res.json(makeIssuer({ keys }).jwks()))
  Object.assign(process.env, { GOOGLE_ISSUER: url, GOOGLE_CLIENT_ID: 'client-1', GOOGLE_ANDROID_ID: 'android-1' })
  const iat = Math.floor(Date.now() / 1000)
  const idToken = (claims: object) =>
    forge(
      { alg: 'RS256', kid, typ: 'JWT' },
      { iss: url, aud: 'client-1', sub: 'g-1', iat, exp: iat + 60, ...claims },
      createPrivateKey(keys.privateKey as string),
      'RS256',
    )
  return { iat, idToken }
}

describe('the page on Google', () => {
  it('google-android: verifies tokens of the app and of the server, and of no other client', async () => {
    const { idToken } = await startProvider()
    const { google } = await run<{ google: IdTokenVerifier }>('google-android')
    for (const azp of ['android-1', 'client-1', undefined])
      expect(await google.verify(idToken({ azp }))).toMatchObject({ subject: 'g-1' })
    for (const claims of [{ azp: 'android-2' }, { azp: 'android-1', aud: 'android-1' }])
      await expect(google.verify(idToken(claims))).rejects.toMatchObject({ reason: 'audience' })
  })

  it('google: signs a new user in, and again, with each nonce once, and never with an access token', async () => {
    const { iat, idToken } = await startProvider()
    const { app, created } = await run<{ created: string[] }>('google')
    const send = async (claims: object = {}, more: object = {}) => {
      const { nonce } = (await request(app).post('/google/nonce').expect(200)).body
      const body = { credential: idToken({ nonce, ...claims }), nonce, ...more }
      const { status, body: answer } = await request(app).post('/google/sign-in').send(body)
      return { status, body: answer, sent: body }
    }
    const first = await send()
    expect(first).toMatchObject({ status: 200, body: { authenticationToken: expect.any(String) } })
    expect(await send()).toMatchObject({ status: 200 })
    expect(created).toEqual(['g-1'])
    expect((await request(app).post('/google/sign-in').send(first.sent)).status).toBe(403)
    for (const [claims, more] of [
      [{ aud: 'client-2' }],
      [{ nonce: 'another' }],
      [{ nonce: undefined }],
      [{ scope: 'reports:read' }],
      [{ exp: iat }],
      [{}, { credential: first.body.authenticationToken }],
      [{}, { credential: { toString: 'x' } }],
    ] as const)
      expect((await send(claims, more)).status).toBe(401)
    expect((await send({}, { nonce: { $ne: 1 } })).status).toBe(403)
    expect(created).toEqual(['g-1'])
  })
})

const EASY = [
  'passwordpassword1',
  'Password12345678',
  'P@ssw0rdP@ssw0rd',
  'aaaaaaaaaaaaaaaa',
  'abcdefghijklmnop',
  'qwertyuiopasdfghjkl',
  'letmeinletmeinletmein',
  'welcomewelcome2026',
  'abc123abc123abc123',
]

describe('the page on new passwords', () => {
  it('leaked-passwords: refuses leaked and short ones, sends 5 digits of a digest, and fails open with a warning', async () => {
    const asked: string[] = []
    let answer: (digest: string, res: Response) => void = () => {}
    const digestOf = (password: string) => createHash('sha1').update(password).digest('hex').toUpperCase()
    const leaked = 'correct horse battery'
    const service = express().use((req, res) => {
      asked.push(`${req.url} ${req.headers['add-padding']}`)
      answer(digestOf(leaked), res)
    })
    process.env['LEAKED_PASSWORDS'] = `${(await listen(service)).url}/range/`
    const { passwords, warnings } = await run<{ warnings: unknown[] }>('leaked-passwords')
    const codeOf = (password: string) =>
      passwords.hash(password).then(
        () => 'hashed',
        ({ code }) => code,
      )
    answer = (digest, res) => void res.send(`${'0'.repeat(35)}:7\r\n${digest.slice(5)}:12`)
    expect(await codeOf(leaked)).toBe('weak_password')
    expect(asked).toEqual([`/range/${digestOf(leaked).slice(0, 5)} true`])
    expect(await codeOf('another horse battery')).toBe('hashed')
    answer = (digest, res) => void res.send(`${digest.slice(5)}:0`)
    expect(await codeOf(leaked)).toBe('hashed')
    expect(warnings).toHaveLength(0)

    answer = (_digest, res) => void res.sendStatus(500)
    expect(await codeOf(leaked)).toBe('hashed')
    answer = (_digest, res) => void res.destroy()
    expect(await codeOf(leaked)).toBe('hashed')
    const limits = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort())
    onTestFinished(() => limits.mockRestore())
    answer = () => {}
    expect(await codeOf(leaked)).toBe('hashed')
    expect(limits).toHaveBeenCalledWith(2000)
    expect(warnings).toHaveLength(3)
    expect(JSON.stringify(warnings)).not.toContain(leaked)
  })

  it('offline-passwords: refuses long passwords that are leaked or easy to guess, when a hash for a user is made', async () => {
    const { passwords, leaked } = await run<{ leaked: Set<string> }>('offline-passwords')
    const codeOf = (password: string) =>
      passwords.hash(password).then(
        () => 'hashed',
        ({ code }) => code,
      )
    // A password of the list that the estimate would allow, in other letter cases too.
    expect(leaked).toContain('30secondstomars')
    for (const password of ['30SecondsToMars', 'TimeSheets-2026', ...EASY])
      expect([password, await codeOf(password)]).toEqual([password, 'weak_password'])
    for (const password of ['violet otter sings at noon', 'kq7 wv2 nb4 zt9', 'to be or not to be'])
      expect([password, await codeOf(password)]).toEqual([password, 'hashed'])
    // A long one ends soon, because only its beginning is looked at.
    expect(await codeOf('p4$$w0rd1!0@5+7%2'.repeat(60))).toMatch(/hashed|weak_password/)
  })

  it('has the number of the leaked passwords that the page names', async () => {
    const { lines } = await run<{ lines: string[] }>('offline-passwords')
    const count = lines.filter((line) => line.length >= 15).length
    expect(readPage('docs/guides/passwords.md').text).toContain(`the ${count.toLocaleString('en')} passwords`)
  })
})
