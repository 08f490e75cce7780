import type { Contexts } from '../../../../support/documents/examples.js'

const API = `import { createTokenClient } from 'express-token-endpoint/client'
    const url = process.env.API_URL ?? ''
    export const api = createTokenClient({ url, credentials: () => ({ email: 'alice@example.com', password: 'secret' }) })`

/** The declarations of a page with a form. A test dispatches the events. */
const PAGE = `export const page = {
      /** @type {any} */
      form: {
        hidden: true,
        elements: { email: { value: '' }, password: { value: '' } },
        reset() {
          for (const field of Object.values(this.elements)) field.value = ''
        },
      },
      warning: { hidden: true },
    }
    const location = { origin: process.env.API_URL ?? '' }
    const document = { forms: [page.form], querySelector: (/** @type {string} */ _) => page.warning }`

export const CLIENTS: Contexts = {
  client: '',
  'client-service': '',
  'client-form': PAGE,
  'client-countdown': `${API}
    const output = { textContent: '' }
    export { output }`,
  'client-timer': API,
}

/** Blocks that import packages of `test/hosts`. */
export const ADAPTERS: Contexts = {
  'client-axios': API,
  'client-got': API,
  'client-openapi-fetch': API,
  'client-socket-io': API,
}
