import express from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import type { SentLetter } from '../../../../example-app/data/mail-box.js'
import { mailBoxRouter } from '../../../../example-app/web/documents/mail-box-router.js'
import { FOLDER } from '../../support.js'

const get = (letters: SentLetter[], host = 'localhost:3000') =>
  request(express().use(mailBoxRouter({ list: () => letters }, FOLDER)))
    .get('/mailbox')
    .set('Host', host)

const LETTER = {
  to: 'alice@example.com',
  subject: 'Sign in',
  text: 'Open the link.',
  sentAt: '2031-01-01T00:00:00.000Z',
}

test('shows the mails and their links, under a policy without scripts', async () => {
  const { text, headers } = await get([{ ...LETTER, link: 'http://localhost/#sign-in=c' }, LETTER]).expect(200)
  expect(text.match(/<a href="http:\/\/localhost\/#sign-in=c">Sign in<\/a>/g)).toHaveLength(1)
  expect(text.match(/alice@example\.com/g)).toHaveLength(2)
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none';style-src 'self';img-src 'self'",
  })
  expect((await get([])).text).toContain('There are no emails yet.')
})

test('shows text of a mail as text', async () => {
  const evil = '<script>alert(1)</script>"&'
  const { text } = await get([{ to: evil, subject: evil, text: evil, sentAt: evil, link: evil }]).expect(200)
  expect(text).not.toContain('<script')
  expect(text.match(/href="([^"]*)"/g)?.at(-1)).toBe('href="&lt;script>alert(1)&lt;/script>&quot;&amp;"')
})

test.each(['evil.example', 'evil.example:3000', '127.0.0.1.evil.example', '203.0.113.7'])(
  'is not there for the host %s',
  async (host) => {
    expect((await get([LETTER], host)).status).toBe(404)
  },
)
test.each(['127.0.0.1:3000', 'localhost', '[::1]:3000'])('is there for the host %s', async (host) => {
  expect((await get([LETTER], host)).status).toBe(200)
})
