import { existsSync, readFileSync } from 'node:fs'
import { createTokenClient, type TokenClient, type TokenClientOptions } from 'express-token-endpoint/client'
import { describe, expect, it } from 'vitest'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { rejectionOf, thrownBy } from '../../../support/failures.js'

const page = readPage('docs/guides/client.md')
const source = (file: string) => readFileSync(`${root}src/client/${file}`, 'utf8')

/** Returns the names in the first column of a section's table. */
const namesIn = (heading: string) => page.tableIn(heading).flatMap(([cell = '']) => /^`(\w+)`$/.exec(cell)?.[1] ?? [])

describe('the page on the client', () => {
  it('names each option, and no other', () => {
    const [, members = ''] =
      /^export interface TokenClientOptions \{\n([\s\S]*?)^\}/m.exec(source('client-options.ts')) ?? []
    const options = [...members.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name)
    expect(options.length).toBeGreaterThanOrEqual(10)
    expect(namesIn('## Options').sort()).toEqual(options.sort())
  })

  it('names each code of an error, and no other', () => {
    const [, union = ''] = /type TokenClientErrorCode =(.*)/.exec(source('token-client-error.ts')) ?? []
    const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code)
    expect(codes.length).toBeGreaterThanOrEqual(5)
    expect(namesIn('## Errors').sort()).toEqual(codes.sort())
  })
})

describe('the messages about misuse of the client', () => {
  const create = (options: object) =>
    createTokenClient({
      url: 'https://api.example.com',
      credentials: () => ({ email: 'alice@example.com', password: 'secret' }),
      ...options,
    } as TokenClientOptions)
  const wrong = (options: object) => () => (thrownBy(() => create(options)) as Error).message
  const rejected = async (call: Promise<unknown>) => ((await rejectionOf(call)) as Error).message
  /** The misuse in the order of the rows. */
  const misuse: (() => string | Promise<string>)[] = [
    wrong({ credentials: { email: 'alice@example.com', password: 'secret' } }),
    () => rejected(create({ credentials: () => ({ email: 'alice@example.com', password: undefined }) }).token()),
    () => {
      const api: TokenClient = create({ credentials: () => api.token() })
      return rejected(api.token())
    },
    wrong({ retries: 3 }),
    wrong({ timeout: '30s' }),
    wrong({ path: 'https://api.example.com/token' }),
    wrong({ origins: new Set(['https://reports.example.com']) }),
    wrong({ timeout: 10_000 }),
    wrong({ maxWait: 30_000 }),
    wrong({ url: 'api.example.com' }),
    () => rejected(create({}).fetch('https://reports.example.com/totals')),
  ]

  it('are on the page, row by row', async () => {
    const rows = page.tableIn('## Messages about misuse').map(([message = '']) => message.replace(/^`|`$/g, ''))
    const messages = await Promise.all(misuse.map((run) => run()))
    expect(rows).toHaveLength(messages.length)
    expect(rows.filter((row, index) => !messages[index]?.includes(row))).toEqual([])
  })

  it('name the page when an option is wrong', () => {
    const [, file = ''] = /See express-token-endpoint\/(\S+)$/.exec(wrong({ retries: 3 })() as string) ?? []
    expect(file).toBe(page.path)
    expect(existsSync(root + file)).toBe(true)
  })
})
