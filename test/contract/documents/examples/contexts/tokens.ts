import type { Contexts } from '../../../../support/documents/examples.js'
import { TOKENS as ISSUER } from './host.js'

const STORE = `${ISSUER}
    import { memoryAccounts } from 'express-token-endpoint'
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'a@b.c', passwordHash: null }])`

export const TOKENS: Contexts = {
  jwks: '',
  'remote-keys': `const log = { error: (_: unknown) => {} }`,
  'account-check': `${STORE}
    const store = accounts`,
  rotation: '',
  'redis-revocation': `${ISSUER}
    const log = { error: (_: unknown) => {} }`,
  'redis-throttle': `${STORE}
    const log = { error: (_: unknown) => {} }`,
  spraying: STORE,
  'spraying-trial': `${STORE}
    export const log = { info: (_: unknown) => {} }`,
  events: '',
  tracing: '',
}
