import type { Contexts } from '../../../../support/documents/examples.js'
import { ISSUER, SECRET } from '../../../../support/fixtures.js'

export const TOKENS: Contexts = {
  jwks: '',
  'remote-keys': `const log = { error: (_: unknown) => {} }`,
  'account-check': `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
    export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const store = memoryAccounts([{ id: 'acc-1', email: 'a@b.c', passwordHash: null }])`,
  rotation: '',
  'redis-revocation': `import { createTokenIssuer } from 'express-token-endpoint'
    export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const log = { error: (_: unknown) => {} }`,
  'redis-throttle': `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
    const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'a@b.c', passwordHash: null }])
    const log = { error: (_: unknown) => {} }`,
  spraying: `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
    const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const accounts = memoryAccounts([])`,
  'spraying-trial': `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
    const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const accounts = memoryAccounts([])
    export const log = { info: (_: unknown) => {} }`,
  events: '',
  tracing: '',
}
