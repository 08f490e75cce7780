import type { Contexts } from '../../../../support/documents/examples.js'

export const START: Contexts = {
  'quick-start': `import { createPasswords } from 'express-token-endpoint'
    const hash = await createPasswords().hash('secret')
    const db = { findAccount: async (email: string) => email === 'alice@example.com' ? { id: 'acc-1', passwordHash: hash } : null }`,
}
