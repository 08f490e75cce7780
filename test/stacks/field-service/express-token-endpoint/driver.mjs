/** Calls this product for the suite. Each function returns a status, or what its name says. */
import { app, database } from './server.mjs'

export { app, database }

const TOKEN = '/api/v2013/authentication/token'
const OUTCOMES = { 200: 'signed_in', 400: 'refused', 429: 'limited', 503: 'down' }
const codeIn = (link) => link.split('=')[1]
const call = async (browser, path, body, method = 'POST') =>
  (await browser.send(method, `/auth/account${path}`, body)).status

async function signInWith(browser, path, body) {
  const { status, text } = await browser.send('POST', path, body)
  const { authenticationToken, code } = text ? JSON.parse(text) : {}
  if (status === 200) browser.authorization = `Bearer ${authenticationToken}`
  return { status, code }
}
export const signUp = (browser, email) => call(browser, '', { email })
export const verify = async (browser, link, password, name) =>
  (await signInWith(browser, '/auth/account/confirm', { code: codeIn(link), password, name })).status
export async function signIn(browser, { code: otp, ...credentials }) {
  const { status, code } = await signInWith(browser, TOKEN, { ...credentials, otp })
  return OUTCOMES[status] ?? code ?? 'refused'
}
export const requestReset = (browser, email) => call(browser, '/password/forgotten', { email })
export const reset = (browser, link, password) => call(browser, '/password/reset', { code: codeIn(link), password })
export const changePassword = (browser, password, newPassword) => call(browser, '/password', { password, newPassword })
export const changeAddress = (browser, email) => call(browser, '/address', { email })
export const confirmAddress = (browser, link) => call(browser, '/address/confirm', { code: codeIn(link) })
const read = async (browser, path) => JSON.parse((await browser.send('POST', `/auth/account${path}`)).text)
export const enrol = async (browser) => (await read(browser, '/totp')).secret
export const confirm = (browser, otp) => call(browser, '/totp/confirm', { otp })
export const renewCodes = async (browser) => (await read(browser, '/recovery-codes')).recoveryCodes
export const remove = (browser) => call(browser, '', undefined, 'DELETE')
/** Returns the ids of the devices, the current one first. */
export async function devices(browser) {
  const { sessions } = JSON.parse((await browser.send('GET', '/sessions')).text)
  return sessions.sort((a, b) => b.current - a.current).map(({ id }) => id)
}
export const endDevice = async (browser, id) => (await browser.send('DELETE', `/sessions/${id}`)).status
export const endOthers = async (browser) => (await browser.send('DELETE', '/sessions')).status
export const signOut = (browser) => browser.send('POST', '/sessions/sign-out')
export const makeManager = (email) =>
  database.prepare("update users set role = 'dispatcher' where email = ?").run(email)
export const reportUrl = async (browser, id) => JSON.parse((await browser.send('POST', `/jobs/${id}/link`)).text).url

const click = (page, button) => page.getByRole('button', { name: button }).click()
export async function signUpOnPage(page, { email }) {
  await page.getByLabel('E-mail').fill(email)
  await click(page, 'Create an account')
}
/** Ends the sign-up on the page of the mailed link. */
export async function finishOnPage(page, { password }, name) {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('New password').fill(password)
  await click(page, 'Set the password')
}
export const removeOnPage = (page) => click(page, 'Delete the account')
