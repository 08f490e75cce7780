import { createTokenClient } from '/token-client/client.js'

const find = (selector) => document.querySelector(selector)
const [form, passwordForm, main] = [find('#sign-in'), find('#password'), find('main')]
const show = (text = '') => {
  find('[role=alert]').textContent = text
}
const MESSAGES = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  code_required: 'Enter the code of your app.',
  wrong_code: 'The code is wrong.',
}

const api = createTokenClient({
  url: location.origin,
  refresh: 'cookie',
  interactive: true,
  credentials: ({ refused }) =>
    new Promise((resolve) => {
      show(refused && (MESSAGES[refused.code] ?? refused.detail))
      find('#otp').hidden = !/code/.test(refused?.code)
      form.hidden = false
      form.onsubmit = () => {
        const { otp, remember, ...credentials } = Object.fromEntries(new FormData(form))
        resolve({ ...credentials, remember: remember === 'on', ...(otp && { otp }) })
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

const [, kind, code] = /^#([a-z-]+)=(.+)/.exec(location.hash) ?? []
history.replaceState(null, '', '/')
async function setPassword(password) {
  await (kind === 'sign-up' ? api.confirm : api.reset)({ code, password })
  passwordForm.hidden = true
  start()
}
passwordForm.hidden = !/^(sign-up|password-reset)$/.test(kind)
passwordForm.onsubmit = ({ target }) => {
  setPassword(target.password.value).catch(fail)
  return false
}
const fail = ({ refused }) => show(refused?.detail ?? 'Try again later.')
if (kind === 'new-address') api.confirmAddress(code).then(start, fail)
else if (passwordForm.hidden) start()
