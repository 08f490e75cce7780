import { ISSUER, SECRET } from '../../../../support/fixtures.js'

/** An issuer, and a store with an account, for a block that has neither; under a name that no block imports. */
export const HOST = `import * as library from 'express-token-endpoint'
    export const tokens = library.createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const account = {
      id: 'acc-1',
      email: 'alice@example.com',
      passwordHash: await library.createPasswords().hash('secret'),
      scopes: ['statements:read'],
      claims: { admin: true },
    }
    const accounts = library.memoryAccounts([account])`

/** An issuer, for a block that has none. */
export const TOKENS = `import { createTokenIssuer } from 'express-token-endpoint'
    export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })`
