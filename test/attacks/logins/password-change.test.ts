import express from 'express'
import { type AuthEvent, createPasswords, requireBearer, tokenRouter } from 'express-token-endpoint'
import { expect, it } from 'vitest'
import { ACCOUNTS, countingHasher, decodePayload, frozenClock, makeIssuer, PASSWORD } from '../../support/fixtures.js'
import { asJson, expectToken, send } from '../../support/host.js'
import { bearer, listen } from '../../support/http.js'

const { alice } = ACCOUNTS

it.each(['in the look-up', 'in the check'])(
  'a login under way while the password is changed gets no token that outlives the change: %s',
  async (where) => {
    const clock = frozenClock()
    const before = clock.seconds()
    const tokens = makeIssuer({ clock })
    const account: { tokensValidAfter?: Date } & typeof alice = { ...alice }
    /** Changes the password 2 s after the login starts. The login ends 1 s later. */
    const change = () => {
      clock.advance(2000)
      account.tokensValidAfter = new Date(clock())
      clock.advance(1000)
    }
    const hasher = countingHasher()
    const verify = (password: string, hash: string) => {
      if (where === 'in the check') change()
      return hasher.verify(password, hash)
    }
    const findByEmail = () => {
      const found = { ...account }
      if (where === 'in the look-up') change()
      return found
    }
    const accounts = { findByEmail, findById: () => ({ ...account }) }
    const refused: AuthEvent[] = []
    const app = express()
    app.use(tokenRouter({ tokens, accounts, passwords: createPasswords({ hashers: [{ ...hasher, verify }] }) }))
    app.use(requireBearer({ tokens, accounts, onEvent: (event) => refused.push(event) }))
    const { port } = await listen(app)
    const { authenticationToken, expiration } = expectToken(await send(port, asJson({ ...alice, password: PASSWORD })))
    expect(clock.seconds()).toBe(before + 3)
    expect(decodePayload(authenticationToken)).toMatchObject({ iat: before, exp: before + 3600 })
    expect(expiration).toBe(new Date((before + 3600) * 1000).toISOString())
    expect((await send(port, bearer(authenticationToken, '/'))).status).toBe(401)
    expect(refused).toMatchObject([{ code: 'invalid_token', reason: 'superseded' }])
  },
)
