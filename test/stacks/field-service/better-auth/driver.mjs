/** Calls this product for the suite. Each function returns a status, or what its name says. */
import { app, database } from './server.mjs'

export { app, database }

const OUTCOMES = { 200: 'signed_in', 429: 'limited', 500: 'down' }
const CODES = { INVALID_CODE: 'wrong_code', INVALID_BACKUP_CODE: 'wrong_code' }
const send = async (browser, path, body = {}) => {
  const { status, text } = await browser.send('POST', `/api/auth${path}`, body)
  return { status, ...(text && JSON.parse(text)) }
}
const post = async (browser, path, body) => (await send(browser, path, body)).status
const follow = async (browser, link) => (await browser.send('GET', link.replace(/^https?:\/\/[^/]+/, ''))).status
const read = async (browser, path) => JSON.parse((await browser.send('GET', `/api/auth${path}`)).text)

export const signUp = (browser, email, password, name) => post(browser, '/sign-up/email', { email, password, name })
export const verify = follow
export async function signIn(browser, { email, password, code, remember }) {
  let result = await send(browser, '/sign-in/email', { email, password, rememberMe: remember })
  if (result.twoFactorRedirect) {
    if (code === undefined) return 'code_required'
    const kind = /^\d{6}$/.test(code) ? 'totp' : 'backup-code'
    result = await send(browser, `/two-factor/verify-${kind}`, { code })
  }
  return OUTCOMES[result.status] ?? CODES[result.code] ?? 'refused'
}
export const requestReset = (browser, email) => post(browser, '/request-password-reset', { email })
export const reset = (browser, link, newPassword) =>
  post(browser, '/reset-password', { token: link.split('=')[1], newPassword })
export const changePassword = (browser, currentPassword, newPassword) =>
  post(browser, '/change-password', { currentPassword, newPassword, revokeOtherSessions: true })
export const changeAddress = (browser, newEmail) => post(browser, '/change-email', { newEmail })
export const confirmAddress = follow
export async function enrol(browser, password) {
  const { totpURI } = await send(browser, '/two-factor/enable', { password })
  return new URL(totpURI).searchParams.get('secret')
}
export const confirm = (browser, code) => post(browser, '/two-factor/verify-totp', { code })
export const renewCodes = async (browser, password) =>
  (await send(browser, '/two-factor/generate-backup-codes', { password })).backupCodes
export const remove = (browser) => post(browser, '/delete-user')
/** Returns the ids of the devices, the current one first. */
export async function devices(browser) {
  const [sessions, { session }] = [await read(browser, '/list-sessions'), await read(browser, '/get-session')]
  return [session.token, ...sessions.map(({ token }) => token).filter((token) => token !== session.token)]
}
export const endDevice = (browser, token) => post(browser, '/revoke-session', { token })
export const endOthers = (browser) => post(browser, '/revoke-other-sessions')
export const signOut = (browser) => post(browser, '/sign-out')
export const makeManager = (email) => database.prepare("update user set role = 'dispatcher' where email = ?").run(email)
export const reportUrl = (_browser, id) => `/jobs/${id}/report.txt`

const click = (page, button) => page.getByRole('button', { name: button }).click()
export async function signUpOnPage(page, { email, password }, name) {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await click(page, 'Create an account')
}
/** Ends the sign-up on the page of the mailed link. */
export async function finishOnPage(page, { email, password }) {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await click(page, 'Sign in')
}
export async function removeOnPage(page, password) {
  page.once('dialog', (dialog) => dialog.accept(password))
  await click(page, 'Delete the account')
}
