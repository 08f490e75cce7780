import { expect, it } from 'vitest'
import { isExposed, withoutEndSlashes } from '../../../src/shared/urls.js'

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
