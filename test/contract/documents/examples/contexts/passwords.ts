import type { Contexts } from '../../../../support/documents/examples.js'

export const PASSWORDS: Contexts = {
  'old-hashes': '',
  'firebase-hashes': '',
  'node-engine': '',
}
