// Tests options/urls.ts

import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isExposed, withoutEndSlashes } from '../../../src/options/urls.js'
import { baseUrl, hrefOf, secureExactUrl, secureUrl } from '../../../src/options/web-url.js'
import { thrownBy } from '../../support/failures.js'

const TEXT = 'https://api.example.com/path'

describe('a URL is read as text', () => {
  it.each([
    ['a URL', new URL(TEXT)],
    ['a URL of another realm', runInNewContext('new URL(text)', { URL, text: TEXT })],
    ['an object that inherits it', Object.create({ href: TEXT })],
  ])('of %s', (_, value) => expect(hrefOf(value)).toBe(TEXT))
})

describe('a value that is not a URL stays unchanged', () => {
  it.each([
    ['text', TEXT],
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['an object with its own href', { href: TEXT }],
    ['an object that inherits another href', Object.create({ href: 7 })],
    ['an object without href', {}],
  ])('%s', (_, value) => expect(hrefOf(value)).toBe(value))
})

describe('a base URL', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com///', 'https://api.example.com'],
    ['https://api.example.com/a//b//', 'https://api.example.com/a//b'],
    ['HTTP://LOCALHOST:80/A', 'http://localhost/A'],
  ])('%s is %s', (value, expected) => expect(baseUrl(value)).toBe(expected))
})

describe('a URL whose traffic nobody else reads', () => {
  const [what, hint] = ['a URL', 'Use https']
  const [read, readExact] = [secureUrl(what, hint), secureExactUrl(what, hint)]

  it.each(['https://API.example.com/?a=b', 'http://localhost:80/a'])('may be %s', (text) => {
    expect(read(text, '').href).toBe(new URL(text).href)
  })

  it.each([TEXT, 'https://API.example.com/', 'http://localhost:80'])('stays the text %s', (text) => {
    expect(readExact(text, '')).toBe(text)
  })

  it.each([
    ['http://api.example.com', hint],
    ['https://user@api.example.com', ''],
    ['https://:secret@api.example.com', ''],
    ['https://api.example.com/#a', ''],
  ])('is not %s', (text, says) => {
    expect(thrownBy(() => read(text, ''))).toMatchObject({ message: what, hint: says })
    if (says) expect(thrownBy(() => readExact(text, ''))).toMatchObject({ message: what, hint })
  })
})

it.each([
  ...['https://api.example.com', 'https://192.0.2.1', 'http://localhost', 'http://LOCALHOST:3000/a'],
  ...['http://127.0.0.1:3000', 'http://127.1', 'http://127.10.200.254', 'http://[::1]:3000'],
])('nobody else reads the traffic to %s', (url) => {
  expect(isExposed(new URL(url))).toBe(false)
})

it.each([
  ...['http://api.example.com', 'http://localhost.example.com', 'http://notlocalhost', 'http://128.0.0.1'],
  ...['http://127.0.0.1.example.com', 'http://a127.0.0.1.example.com', 'http://127.example.com', 'http://127.a.b.c'],
  ...['http://192.0.2.1', 'http://[::2]'],
])('others can read the traffic to %s', (url) => {
  expect(isExposed(new URL(url))).toBe(true)
})

it.each([
  ['', ''],
  ['/', ''],
  ['///', ''],
  ['a//b', 'a//b'],
  ['/a//b///', '/a//b'],
  [`a${'/'.repeat(1_000_000)}b`, `a${'/'.repeat(1_000_000)}b`],
])('removes only the slashes at the end, also among a million others (row %#)', (text, expected) => {
  expect(withoutEndSlashes(text)).toBe(expected)
})
