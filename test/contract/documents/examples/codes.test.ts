import type { Account, Auth, Codes } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { startExamples, tokenFrom } from '../../../support/documents/examples.js'

const { run } = startExamples(import.meta.url)

describe('codes', () => {
  async function startCodes(instance: string) {
    const recipe = await run<{ added: string[][]; auth: Auth<Account> & { codes: Codes } }>('codes', instance)
    const { app } = recipe
    const alice = await tokenFrom(app.use(recipe.auth.router))
    const post = (path: string, body: object) => request(app).post(`/invitations${path}`).auth(alice, BEARER).send(body)
    const invite = async () => String((await post('', {}).expect(200)).body.link.split('#')[1])
    return { ...recipe, post, invite }
  }
  const BEARER = { type: 'bearer' } as const

  it('invites once', async () => {
    const { auth, added, post, invite } = await startCodes('once')
    const code = await invite()
    expect(await auth.codes.find('invitation', code)).toMatchObject({ accountId: 'acc-1' })
    const responses = await Promise.all([1, 2].map(() => post('/accept', { code })))
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 403])
    expect(added).toEqual([['acc-1', 'acc-1']])
    expect(await auth.codes.find('invitation', code)).toBeUndefined()
  })

  it('takes no code for another purpose, and none that was removed', async () => {
    const { auth, added, post, invite } = await startCodes('removed')
    const other = await auth.codes.create({ purpose: 'other', accountId: 'acc-1' })
    for (const code of [other, undefined, { $ne: 1 }, 'x'.repeat(43)]) await post('/accept', { code }).expect(403)
    const code = await invite()
    await auth.codes.removeAll('acc-1', 'invitation')
    await post('/accept', { code }).expect(403)
    expect(await auth.codes.take('other', other)).toMatchObject({ accountId: 'acc-1' })
    expect(added).toEqual([])
  })
})
