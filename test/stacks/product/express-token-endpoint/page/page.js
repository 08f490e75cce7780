import { createTokenClient } from '/token-client/client.js'

const find = (selector) => document.querySelector(selector)
const [form, resetForm, main] = [find('#sign-in'), find('#reset'), find('main')]
const show = (text = '') => {
  find('[role=alert]').textContent = text
}
const MESSAGES = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  email_not_verified: 'Open the link that we have mailed to you.',
  code_required: 'Enter the code of your app.',
  wrong_code: 'The code is wrong.',
}

const api = createTokenClient({
  url: location.origin,
  path: '/sign-in',
  refresh: 'cookie',
  interactive: true,
  credentials: ({ refused }) =>
    new Promise((resolve) => {
      show(refused && (MESSAGES[refused.code] ?? refused.detail))
      find('#code').hidden = !/code/.test(refused?.code)
      form.hidden = false
      form.onsubmit = () => {
        const { code, remember, ...credentials } = Object.fromEntries(new FormData(form))
        resolve({ ...credentials, remember: remember === 'on', ...(code && { code }) })
        form.hidden = true
        return false
      }
    }),
})

async function showSheets() {
  const sheets = await (await api.fetch('/sheets')).json()
  form.reset()
  show()
  find('ul').replaceChildren(
    ...sheets.map(({ week, hours, approved_by }) => {
      const item = document.createElement('li')
      item.textContent = `${week}: ${hours} h${approved_by ? ', approved' : ''}`
      return item
    }),
  )
  main.hidden = false
}
const start = () => showSheets().catch(() => show('The sign-in failed. Load the page again.'))

find('#sign-out').onclick = async () => {
  main.hidden = true
  await api.signOut()
  start()
}

const post = (path, body) =>
  fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
const [, purpose, code] = /^#(verify|reset)=(.+)/.exec(location.hash) ?? []
history.replaceState(null, '', '/')
if (purpose === 'verify') await post('/verify', { code })
resetForm.hidden = purpose !== 'reset'
resetForm.onsubmit = ({ target }) => {
  post('/reset/password', { code, password: target.password.value }).then(({ ok }) => {
    resetForm.hidden = true
    ok ? start() : show('The link does not work any more.')
  })
  return false
}
if (purpose !== 'reset') start()
