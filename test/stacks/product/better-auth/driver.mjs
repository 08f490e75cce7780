/** Calls this product for the suite. Each function returns a status, or what its name says. */
import { app, database } from './server.mjs'

export { app, database }

const OUTCOMES = { 200: 'signed_in', 400: 'wrong_code', 429: 'limited', 500: 'down' }
const CODES = {
  EMAIL_NOT_VERIFIED: 'email_not_verified',
  INVALID_CODE: 'wrong_code',
  USED_CODE: 'wrong_code',
  INVALID_BACKUP_CODE: 'wrong_code',
}
const post = (browser, path, body = {}) => browser.send('POST', `/api/auth${path}`, body)

export const signUp = async (browser, email, password) =>
  (await post(browser, '/sign-up/email', { email, password, name: email })).status
export const verify = async (browser, link) => (await browser.send('GET', link.replace(/^https?:\/\/[^/]+/, ''))).status
export const changeAddress = async (browser, newEmail) => (await post(browser, '/change-email', { newEmail })).status
export const confirmAddress = verify
export async function signIn(browser, { email, password, code, remember }) {
  let { status, text } = await post(browser, '/sign-in/email', { email, password, rememberMe: remember })
  if (status === 200 && JSON.parse(text).twoFactorRedirect) {
    if (code === undefined) return 'code_required'
    const kind = /^\d{6}$/.test(code) ? 'totp' : 'backup-code'
    ;({ status, text } = await post(browser, `/two-factor/verify-${kind}`, { code }))
  }
  return OUTCOMES[status] ?? CODES[JSON.parse(text).code] ?? 'refused'
}
export const refresh = async (browser) => (await browser.send('GET', '/api/auth/get-session')).status
export const requestReset = async (browser, email) => (await post(browser, '/request-password-reset', { email })).status
export const reset = async (browser, link, newPassword) =>
  (await post(browser, '/reset-password', { token: link.split('=')[1], newPassword })).status
export async function enrol(browser, password) {
  const { text } = await post(browser, '/two-factor/enable', { password })
  return new URL(JSON.parse(text).totpURI).searchParams.get('secret')
}
export const confirm = async (browser, code) => (await post(browser, '/two-factor/verify-totp', { code })).status
export const renewCodes = async (browser, password) =>
  JSON.parse((await post(browser, '/two-factor/generate-backup-codes', { password })).text).backupCodes
export const sessions = async (browser) =>
  JSON.parse((await browser.send('GET', '/api/auth/list-sessions')).text).length
export const signOut = (browser) => post(browser, '/sign-out')
export const signOutEverywhere = (browser) => post(browser, '/revoke-sessions')
const idOf = (email) => database.prepare('select id from user where email = ?').get(email).id
export const makeManager = (email) => database.prepare("update user set role = 'admin' where email = ?").run(email)
export const disable = async (manager, email) =>
  (await post(manager, '/admin/ban-user', { userId: idOf(email) })).status
export const actAs = (manager, email) => post(manager, '/admin/impersonate-user', { userId: idOf(email) })
