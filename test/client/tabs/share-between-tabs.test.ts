// Tests client/tabs/share-between-tabs.ts

import { createTokenClient, keepInTab, shareBetweenTabs } from 'express-token-endpoint/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { TOKEN_PATH } from '../faults/server.js'

const URL_OF_API = 'https://api.example.com'
const NAME = `express-token-endpoint ${URL_OF_API}${TOKEN_PATH}`
const grant = (token: string) => ({ token, lifetime: 3_600_000, receivedAt: Date.now() })

/** A storage that shows no change of another tab. */
function createStorage(texts: Record<string, string>) {
  const map = new Map(Object.entries(texts))
  return {
    getItem: (name: string) => map.get(name) ?? null,
    setItem: (name: string, text: string) => void map.set(name, text),
    removeItem: (name: string) => void map.delete(name),
  }
}

describe('shareBetweenTabs(), with another tab', () => {
  let other: InstanceType<typeof BroadcastChannel>
  /** Called when this tab asks the other tab for a token. */
  let onQuestion: (question: number) => void

  beforeEach(() => {
    onQuestion = () => {}
    other = new BroadcastChannel(NAME)
    other.onmessage = (event: unknown) => {
      const { question } = (event as MessageEvent).data
      if (question) onQuestion(question)
    }
    vi.stubGlobal('document', {})
    vi.stubGlobal('navigator', {
      locks: {
        request: (_: string, __: object, work: () => Promise<unknown>) => work(),
        query: async () => ({ held: Array(2).fill({ name: `${NAME} present` }) }),
      },
    })
  })
  afterEach(() => {
    other.close()
    vi.unstubAllGlobals()
  })

  /** Opens a tab that is signed in with the token "Kept". Its number is 0.5. */
  function open() {
    vi.stubGlobal('localStorage', createStorage({ [NAME]: '0.5' }))
    vi.stubGlobal('sessionStorage', createStorage({ [NAME]: JSON.stringify({ ...grant('Kept'), generation: 0.5 }) }))
    const api = createTokenClient({
      url: URL_OF_API,
      credentials: () => ({ email: 'alice@example.com', password: 'secret' }),
      tabs: keepInTab(shareBetweenTabs()),
      fetch: async () =>
        Response.json({ authenticationToken: 'Own', expiration: new Date(Date.now() + 3_600_000).toISOString() }),
    })
    onTestFinished(api.close)
    expect(api.state.expiresAt).toBeDefined()
    return api
  }

  /** Posts messages of the other tab. Returns this tab's response to a question after them. */
  function post(...messages: object[]): Promise<{ generation: number; news?: { token: string } }> {
    const asker = new BroadcastChannel(NAME)
    return new Promise((resolve) => {
      asker.onmessage = (event: unknown) => {
        const { data } = event as MessageEvent
        if (data.response !== 0.25) return
        asker.close()
        resolve(data)
      }
      for (const message of [...messages, { question: 0.25 }]) asker.postMessage(message)
    })
  }

  /** Signs out in the other tab, which had a number before. */
  const signOut = (before: number, generation = 0) => post({ news: 'sign-out', generation, before })

  /** Waits until the other tab has the question that a tab asks when it opens. */
  const asked = () =>
    new Promise<number>((resolve) => {
      onQuestion = (question) => question !== 0.25 && resolve(question)
    })

  it.each([
    ['a larger number ends the kept token', 1.75, undefined],
    ['the same number does not', 0.5, 'Kept'],
    ['a smaller number does not', 0.25, 'Kept'],
  ])('a response that has %s', async (_, generation, expected) => {
    const question = asked()
    open()
    const { news } = await post({ response: await question, generation })
    expect(news?.token).toBe(expected)
  })

  it('a sign-out with a smaller number, of a tab that has just opened, is obeyed, and has a new number', async () => {
    const api = open()
    expect(await signOut(0.5, 2.25)).toMatchObject({ news: undefined, generation: 2.25 })
    expect(await api.token()).toBe('Own')
    expect(await signOut(0, 1.125)).toMatchObject({ news: undefined, generation: 2.375 })
    expect(api.state.expiresAt).toBeUndefined()
  })

  it.each([
    ['in one order', [2.25, 2.125]],
    ['in the other', [2.125, 2.25]],
  ])('two sign-outs at once have one larger number, heard %s', async (_, [first, second]) => {
    open()
    await signOut(0.5, first)
    expect((await signOut(0.5, second)).generation).toBe(2.375)
  })

  it('a tab that has missed a sign-out takes the number of the next', async () => {
    open()
    expect(await signOut(5.5, 7.25)).toMatchObject({ news: undefined, generation: 7.25 })
  })

  it('a sign-out that this tab knows is not a new one', async () => {
    const api = open()
    await signOut(0.5, 1.25)
    api.adopt({ token: 'Next', expiresAt: Date.now() + 3_600_000 })
    expect((await signOut(0.5, 1.25)).news?.token).toBe('Next')
  })

  it.each([
    ['a larger number', 9],
    ['a smaller number', 0.25],
    ['no number', undefined],
  ])('a token that has %s is not taken', async (_, generation) => {
    const api = open()
    await signOut(0.5, 1.25)
    const question = asked()
    const result = api.token()
    await question
    const { generation: known } = await post({ news: grant('Foreign'), generation })
    expect(known).toBe(1.25)
    await expect(result).resolves.toBe('Own')
  })

  it('a response to a question from before the sign-out has no effect', async () => {
    const question = asked()
    const api = open()
    const response = await question
    api.signOut()
    const { generation } = await post({ response, news: grant('Old'), generation: 9 })
    expect(generation).toBeLessThan(9)
  })

  it('without a number, a sign-out is obeyed too', async () => {
    open()
    expect(await post({ news: 'sign-out' })).toMatchObject({ news: undefined, generation: 0.5 })
  })
})
