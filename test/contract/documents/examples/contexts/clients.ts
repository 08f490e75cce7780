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
      /** @type {any} */
      failure: { hidden: true, button: {}, querySelector: () => page.failure.button },
    }
    /** @type {Record<string, any>} */
    const elements = { '#wrong-password': page.warning, '#sign-in-failed': page.failure }
    const location = { origin: process.env.API_URL ?? '' }
    const document = { forms: [page.form], querySelector: (/** @type {string} */ selector) => elements[selector] }
    const showStatements = () => api.fetch('/statements')`

export const CLIENTS: Contexts = {
  client: '',
  'client-service': '',
  'client-form': PAGE,
  'client-countdown': `${API}
    const document = { querySelector: (/** @type {string} */ _) => ({ textContent: '' }) }`,
  'client-new-password': `const url = process.env.API_URL ?? ''
    const email = 'alice@example.com'
    const readPassword = async () => process.env.API_PASSWORD ?? ''`,
  'client-sign-out': API,
  'client-timer': API,
  'readme-client': `const url = process.env.API_URL ?? ''
    const [email, password] = ['alice@example.com', 'secret']`,
}

/** Blocks that import packages of `test/hosts`. */
export const ADAPTERS: Contexts = {
  'client-axios': API,
  'client-got': API,
  'client-openapi-fetch': API,
  'client-socket-io': API,
}
