import { tracingChannel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import express from 'express'
import {
  type AuthEvent,
  createTokenVerifier,
  jwksRouter,
  remoteKeys,
  requireBearer,
  SignInRefusal,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { logInWith } from '../../support/auth.js'
import { rejectionOf } from '../../support/failures.js'
import {
  ACCOUNTS,
  fastPasswords,
  ISSUER,
  issueNow,
  makeIssuer,
  makeStore,
  PASSWORD,
  signingKey,
} from '../../support/fixtures.js'
import { asJson, GOOD, send } from '../../support/host.js'
import { listen } from '../../support/http.js'

interface Message {
  step: string
  context: Record<string, unknown>
}

/** Subscribes to a channel until the test ends, and returns its messages. */
function messagesOf(name: string): Message[] {
  const messages: Message[] = []
  const steps = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((step) => [
    step,
    (context: unknown) => void messages.push({ step, context: context as Message['context'] }),
  ])
  const subscribers = Object.fromEntries(steps)
  const channel = tracingChannel(`express-token-endpoint.${name}`)
  channel.subscribe(subscribers)
  onTestFinished(() => void channel.unsubscribe(subscribers))
  return messages
}

const stepsOf = (messages: Message[]) => messages.map(({ step }) => step).join(' ')

async function api() {
  const tokens = makeIssuer({ keys: signingKey('ES256') })
  const router = tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords() })
  const app = express().use(router, jwksRouter({ tokens }))
  app.get('/me', requireBearer({ tokens: makeIssuer({ keys: signingKey('ES256') }) }), (_req, res) => void res.end())
  const { port, url } = await listen(app)
  const me = (token: string) =>
    send(port, { method: 'GET', path: '/me', headers: { Authorization: `Bearer ${token}` } })
  return { tokens, port, url, me }
}

describe('the channel of logins', () => {
  it('publishes the start, the end and the account', async () => {
    const messages = messagesOf('login')
    const { port } = await api()
    await send(port, asJson(GOOD))
    expect(stepsOf(messages)).toBe('start end asyncStart asyncEnd')
    expect(messages[3]?.context).toMatchObject({ accountId: ACCOUNTS.alice.id })
    expect(messages[0]?.context).toBe(messages[3]?.context)
  })

  it('publishes the refusal of a wrong password', async () => {
    const messages = messagesOf('login')
    const { port } = await api()
    await send(port, asJson({ ...GOOD, password: 'wrong' }))
    expect(stepsOf(messages)).toBe('start end error asyncStart asyncEnd')
    const error = { code: 'invalid_credentials', reason: 'wrong_password' }
    expect({ ...messages[4]?.context }).toMatchObject({ error })
  })

  it('publishes a failure of the store without its cause, which the host gets in an event', async () => {
    const messages = messagesOf('login')
    const down = new Error(`no connection for ${GOOD.email}`)
    const events: AuthEvent[] = []
    const options = { tokens: makeIssuer(), accounts: () => Promise.reject(down), passwords: fastPasswords() }
    const { port } = await listen(express().use(tokenRouter({ ...options, onEvent: (event) => events.push(event) })))
    await send(port, asJson(GOOD))
    expect(messages[4]?.context).toMatchObject({ error: { code: 'unavailable', dependency: 'accounts' } })
    expect(inspect(messages, { depth: 9, showHidden: true })).not.toContain(GOOD.email)
    expect(events).toMatchObject([{ type: 'dependency.failed', error: down }])
  })
})

describe('the channel of logins, for a step after the password', () => {
  const cause = new Error(`closed for ${GOOD.email}`)
  it.each<[string, Error, object]>([
    ['a refusal', new SignInRefusal('closed', { cause }), { code: 'closed', status: 403 }],
    ['an exposed error', Object.assign(cause, { status: 402, expose: true }), { code: 'sign_in_refused', status: 402 }],
  ])('publishes %s without the error of the host', async (_, thrown, error) => {
    const messages = messagesOf('login')
    const beforeSignIn = () => Promise.reject(thrown)
    const logIn = logInWith({ accounts: makeStore(), beforeSignIn })
    await rejectionOf(logIn(GOOD))
    expect({ ...messages[4]?.context }).toMatchObject({ error })
    expect(inspect(messages, { depth: 9, showHidden: true })).not.toContain(GOOD.email)
  })
})

describe('the channel of verifications', () => {
  it('publishes each verification, and nothing for a cached token', async () => {
    const messages = messagesOf('verify')
    const { tokens, me } = await api()
    const { token, id } = issueNow(tokens, { accountId: 'acc-1' })
    for (let i = 0; i < 3; i++) expect((await me(token)).status).toBe(200)
    expect(stepsOf(messages)).toBe('start end')
    expect(messages[1]?.context).toMatchObject({ accountId: 'acc-1', tokenId: id })
    await me('a.b.c')
    expect(stepsOf(messages.slice(2))).toBe('start error end')
    expect(messages[4]?.context).toMatchObject({ error: { code: 'invalid_token', reason: 'malformed' } })
  })
})

describe('the channel of keys', () => {
  it('publishes each fetch with its address', async () => {
    const messages = messagesOf('keys')
    const { tokens, url } = await api()
    const keys = (path: string) => remoteKeys(url + path, { onError: () => {} })
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    await createTokenVerifier({ issuer: ISSUER, keys: keys('/.well-known/jwks.json?secret=1') }).verify(token)
    expect(stepsOf(messages)).toBe('start end asyncStart asyncEnd')
    expect(messages[3]?.context).toMatchObject({ url: `${url}/.well-known/jwks.json` })
    await createTokenVerifier({ issuer: ISSUER, keys: keys('/nothing') })
      .verify(token)
      .catch(() => {})
    expect(stepsOf(messages.slice(4))).toBe('start end error asyncStart asyncEnd')
  })
})

it('no message holds a token, a password, a hash or an e-mail address', async () => {
  const all = ['login', 'verify', 'keys'].map(messagesOf)
  const { tokens, port, url, me } = await api()
  const { body } = await send(port, asJson(GOOD))
  const { authenticationToken } = JSON.parse(body)
  await send(port, asJson({ ...GOOD, password: `${PASSWORD}!` }))
  await me(authenticationToken)
  await me(`${authenticationToken}x`)
  const verifier = createTokenVerifier({ issuer: ISSUER, keys: remoteKeys(`${url}/.well-known/jwks.json`) })
  await verifier.verify(issueNow(tokens, { accountId: 'acc-1' }).token)
  for (const messages of all) expect(messages).not.toEqual([])
  const shown = JSON.stringify(all, (_, value) => (value instanceof Error ? { ...value, text: value.message } : value))
  for (const secret of [...authenticationToken.split('.'), PASSWORD, GOOD.email, 'plain:'])
    expect(shown).not.toContain(secret)
})
