import type { Contexts } from '../../../../support/documents/examples.js'

export const PASSWORDS: Contexts = {
  'django-hasher': '',
}
