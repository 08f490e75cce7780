import { expect, test } from 'vitest'
import { passkeyDomain } from '../../../example-app/web/passkey-domain.js'

test.each([
  ['http://127.0.0.1:3000', { rpId: 'localhost', origins: ['http://localhost:3000'] }],
  ['http://[::1]:3000/x', { rpId: 'localhost', origins: ['http://localhost:3000'] }],
  ['http://localhost:8080', { rpId: 'localhost', origins: ['http://localhost:8080'] }],
  ['https://api.example.com/x/', { rpId: 'api.example.com', origins: ['https://api.example.com'] }],
  ['http://api.example.com', undefined],
  ['https://10.0.0.1', undefined],
  ['https://[2001:db8::1]', undefined],
])('the passkeys of %s', (issuer, domain) => {
  expect(passkeyDomain(issuer)).toEqual(domain)
})
