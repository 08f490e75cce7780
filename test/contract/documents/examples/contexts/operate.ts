import type { Contexts } from '../../../../support/documents/examples.js'
import { HOST, TOKENS } from './host.js'

export const OPERATE: Contexts = {
  'key-from-env': '',
  'key-from-jwk': '',
  'key-from-file': '',
  'rotation-secrets': '',
  'remote-guard': TOKENS,
  'fixed-key': '',
  'verify-text': TOKENS,
  passport: HOST,
  'plain-http': TOKENS,
  server: `import express from 'express'
    const app = express().get('/slow', (_req, res) => {
      console.log('in flight')
      setTimeout(() => res.send('done'), 300)
    })`,
  'faster-express': `${TOKENS}
    import express from 'express'
    import { requireBearer } from 'express-token-endpoint'
    export const app = express().get('/', requireBearer({ tokens }), (_req, res) => {
      res.send('admitted')
    })`,
  health: `import { createPasswords } from 'express-token-endpoint'
    export const database = { up: true }
    const ping = async () => {
      if (!database.up) throw new Error('down')
    }
    const passwords = createPasswords()`,
}
