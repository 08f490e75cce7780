/** Calls this product for the suite. Each function returns a status, or what its name says. */
import { app, database } from './server.mjs'

export { app, database }

const TOKEN = '/api/v2013/authentication/token'
const OUTCOMES = { 200: 'signed_in', 400: 'refused', 429: 'limited', 503: 'down' }

export const signUp = async (browser, email) => (await browser.send('POST', '/auth/account', { email })).status
export const verify = async (browser, link, password) =>
  (await browser.send('POST', '/auth/account/confirm', { code: link.split('=')[1], password })).status
export async function signIn(browser, { code: otp, ...credentials }) {
  const { status, text } = await browser.send('POST', TOKEN, { ...credentials, otp })
  const body = text ? JSON.parse(text) : {}
  if (status === 200) browser.authorization = `Bearer ${body.authenticationToken}`
  return OUTCOMES[status] ?? body.code ?? 'refused'
}
export async function refresh(browser) {
  const { status, text } = await browser.send('POST', `${TOKEN}/refresh`)
  if (status === 200) browser.authorization = `Bearer ${JSON.parse(text).authenticationToken}`
  return status
}
export const requestReset = async (browser, email) =>
  (await browser.send('POST', '/auth/account/password/forgotten', { email })).status
export const reset = async (browser, link, password) =>
  (await browser.send('POST', '/auth/account/password/reset', { code: link.split('=')[1], password })).status
export const changeAddress = async (browser, email) =>
  (await browser.send('POST', '/auth/account/address', { email })).status
export const confirmAddress = async (browser, link) =>
  (await browser.send('POST', '/auth/account/address/confirm', { code: link.split('=')[1] })).status
export async function enrol(browser) {
  const { text } = await browser.send('POST', '/auth/account/totp')
  return JSON.parse(text).secret
}
export const confirm = async (browser, otp) =>
  (await browser.send('POST', '/auth/account/totp/confirm', { otp })).status
export const renewCodes = async (browser) =>
  JSON.parse((await browser.send('POST', '/auth/account/recovery-codes')).text).recoveryCodes
export const sessions = async (browser) => JSON.parse((await browser.send('GET', '/sessions')).text).sessions.length
export const signOut = (browser) => browser.send('POST', '/sessions/sign-out')
export async function signOutEverywhere(browser) {
  await browser.send('DELETE', '/sessions')
  await browser.send('POST', '/sessions/sign-out')
}
const idOf = (email) => database.prepare('select id from users where email = ?').get(email).id
export const makeManager = (email) => database.prepare("update users set role = 'manager' where email = ?").run(email)
export const disable = async (manager, email) =>
  (await manager.send('PATCH', `/users/${idOf(email)}`, { disabled: true })).status
export async function actAs(manager, email) {
  const { text } = await manager.send('POST', `/act-as/${idOf(email)}`)
  manager.authorization = `Bearer ${JSON.parse(text).authenticationToken}`
}
