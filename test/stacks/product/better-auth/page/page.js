const find = (selector) => document.querySelector(selector)
const [form, resetForm, main] = [find('#sign-in'), find('#reset'), find('main')]
const show = (text = '') => {
  find('[role=alert]').textContent = text
}
const MESSAGES = {
  INVALID_EMAIL_OR_PASSWORD: 'The e-mail address or the password is wrong.',
  EMAIL_NOT_VERIFIED: 'Open the link that we have mailed to you.',
  INVALID_CODE: 'The code is wrong.',
  INVALID_BACKUP_CODE: 'The code is wrong.',
  USED_CODE: 'The code is wrong.',
}

async function post(path, body = {}) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(`/api/auth${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { ok: response.ok, ...(await response.json()) }
}

async function showSheets() {
  const response = await fetch('/sheets')
  form.hidden = response.status !== 401
  main.hidden = !response.ok
  if (!response.ok) return
  form.reset()
  find('ul').replaceChildren(
    ...(await response.json()).map(({ week, hours, approved_by }) => {
      const item = document.createElement('li')
      item.textContent = `${week}: ${hours} h${approved_by ? ', approved' : ''}`
      return item
    }),
  )
}

async function signIn() {
  const { code, remember, ...credentials } = Object.fromEntries(new FormData(form))
  const asksForCode = find('#code').hidden
  const kind = /^\d{6}$/.test(code) ? 'totp' : 'backup-code'
  const result = asksForCode
    ? await post('/sign-in/email', { ...credentials, rememberMe: remember === 'on' })
    : await post(`/two-factor/verify-${kind}`, { code })
  find('#code').hidden = result.ok ? !result.twoFactorRedirect : asksForCode
  if (result.twoFactorRedirect) return show('Enter the code of your app.')
  show(result.ok ? '' : (MESSAGES[result.code] ?? result.message))
  if (result.ok) await showSheets()
}
form.onsubmit = () => {
  signIn().catch(() => show('The sign-in failed. Load the page again.'))
  return false
}

find('#sign-out').onclick = async () => {
  await post('/sign-out')
  await showSheets()
}

const [, token] = /^#reset=(.+)/.exec(location.hash) ?? []
history.replaceState(null, '', '/')
resetForm.hidden = !token
resetForm.onsubmit = ({ target }) => {
  post('/reset-password', { token, newPassword: target.password.value }).then(({ ok }) => {
    resetForm.hidden = true
    ok ? showSheets() : show('The link does not work any more.')
  })
  return false
}
if (!token) showSheets()
