export { TOKEN_PATH } from '../../../support/plain-js/http-client.mjs'

export const PASSWORD = 'correct horse'
/** The number of accounts of the attacked app. */
export const PEOPLE = 1000
