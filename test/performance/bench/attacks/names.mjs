export { TOKEN_PATH } from '../../../support/plain-js/http-client.mjs'

export const PASSWORD = 'correct horse'
/** How many accounts the app under attack has. */
export const PEOPLE = 1000
