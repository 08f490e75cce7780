const find = (selector) => document.querySelector(selector)
const [main, signIn, codeForm, reset] = ['main', '#sign-in', '#code', '#reset'].map(find)
const show = (text = '') => {
  find('[role=alert]').textContent = text
}
const fail = ({ message }) => show(message ?? 'That did not work. Try again later.')
const MESSAGES = {
  INVALID_EMAIL_OR_PASSWORD: 'The e-mail address or the password is wrong.',
  EMAIL_NOT_VERIFIED: 'Open the link that we have mailed to you.',
}
const fieldsOf = (form) => Object.fromEntries(new FormData(form))

async function send(path, body) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(path, body && { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status === 204) return undefined
  const result = await response.json().catch(() => ({}))
  if (!response.ok) throw Object.assign(new Error(MESSAGES[result.code] ?? result.message), { status: response.status })
  return result
}
const post = (path, body = {}) => send(`/api/auth${path}`, body)

function item(text, buttons) {
  const li = document.createElement('li')
  li.append(text)
  for (const [label, act] of Object.entries(buttons)) {
    const button = document.createElement('button')
    Object.assign(button, { textContent: label, onclick: () => act().then(showApp).catch(fail) })
    li.append(button)
  }
  return li
}

async function showApp() {
  const found = await send('/api/auth/get-session')
  main.hidden = !found
  signIn.hidden = !!found
  if (!found) return
  const { user, session } = found
  const [jobs, sessions] = await Promise.all([send('/jobs'), send('/api/auth/list-sessions')])
  find('#me').textContent = `${user.name}, ${user.email}`
  find('#jobs').replaceChildren(
    ...jobs.map(({ id, title, report }) =>
      item(`${title}: ${report ?? 'open'}`, {
        Report: () => send(`/jobs/${id}/report`, { report: prompt('What did you do?') }),
        Download: async () => location.assign(`/jobs/${id}/report.txt`),
      }),
    ),
  )
  find('#devices').replaceChildren(
    ...sessions.map(({ token, userAgent }) =>
      item(`${userAgent}${token === session.token ? ', this one' : ''}`, {
        'End it': () => post('/revoke-session', { token }),
      }),
    ),
  )
}

let stream
async function start() {
  await showApp()
  stream?.close()
  if (main.hidden) return
  stream = new EventSource('/changes')
  stream.onmessage = () => showApp().catch(fail)
}

/** Runs an action that ends with a message. */
const on = (event, selector, act, message) => {
  find(selector)[event] = ({ target }) => {
    const form = target.closest('form') ?? undefined
    act(fieldsOf(form)).then(() => {
      form?.reset()
      show(message)
    }, fail)
    return false
  }
}
on('onsubmit', '#sign-in', async ({ remember, ...credentials }) => {
  const { twoFactorRedirect } = await post('/sign-in/email', { ...credentials, rememberMe: remember === 'on' })
  if (!twoFactorRedirect) return start()
  signIn.hidden = true
  codeForm.hidden = false
})
on('onsubmit', '#code', async ({ code }) => {
  const kind = /^\d{6}$/.test(code) ? 'totp' : 'backup-code'
  await post(`/two-factor/verify-${kind}`, { code })
  codeForm.hidden = true
  await start()
})
on('onclick', '#sign-up', (fields) => post('/sign-up/email', fields), 'Open the link that we have mailed to you.')
on(
  'onclick',
  '#forgotten',
  ({ email }) => post('/request-password-reset', { email }),
  'Open the link that we have mailed to you.',
)
on(
  'onsubmit',
  '#password',
  (fields) => post('/change-password', { ...fields, revokeOtherSessions: true }),
  'The password is changed.',
)
on('onsubmit', '#address', (fields) => post('/change-email', fields), 'Open the link in the mail to the new address.')
on(
  'onclick',
  '#remove',
  () => post('/delete-user', { password: prompt('Your password, once more') }).then(start),
  'The account is deleted.',
)
on('onclick', '#sign-out', () => post('/sign-out').then(start))

const [, token] = /^#reset=(.+)/.exec(location.hash) ?? []
history.replaceState(null, '', '/')
reset.hidden = !token
on('onsubmit', '#reset', async ({ password }) => {
  await post('/reset-password', { token, newPassword: password })
  reset.hidden = true
  await start()
})
if (!token) start().catch(fail)
