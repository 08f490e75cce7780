import { openApiDocument } from 'express-token-endpoint/openapi'
import { expect, it } from 'vitest'
import { messageOf } from '../../../src/openapi/responses.js'

/** Run this test with `--update` to accept a change of the document. Read the difference as a client would. */
it('the document of both endpoints changes only with this file', async () => {
  const document = openApiDocument({ jwks: true, servers: 'https://api.example.com' })
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('published.json')
})

it('requires a header that every response with the status has, and no other', () => {
  const answers = [
    { status: 503, headers: { Pragma: 'no-cache', 'Retry-After': '1' }, body: '' },
    { status: 503, headers: { Pragma: 'no-cache' }, body: '' },
  ]
  const { headers = {}, content } = messageOf(answers, {})
  expect(Object.keys(headers)).toEqual(['Pragma', 'Retry-After'])
  expect(headers['Pragma']).toMatchObject({ required: true, schema: { enum: ['no-cache'] } })
  expect(headers['Retry-After']).toMatchObject({ required: false })
  expect(content).toBeUndefined()
})
