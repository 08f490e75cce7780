import { createTokenClient } from '/token-client/client.js'

/** The fields of the form. They are sent once. */
let typed = []
const credentials = () => typed.pop() ?? Promise.reject(new Error('Wrong email address or password.'))
const api = createTokenClient({ url: location.origin, refresh: 'cookie', interactive: true, credentials })
const mailed = () => 'Open the link in the mail.'

/** The functions of the buttons. The page shows the text that they return. */
const actions = {
  'sign-in': () => api.token().then(() => ''),
  'sign-up': ({ email }) => api.signUp(email).then(mailed),
  forgotten: ({ email }) => api.forgotten(email).then(mailed),
  async save({ password }) {
    const [kind, code] = location.hash.slice(1).split('=')
    await (kind === 'sign-up' ? api.confirm({ code, password }) : api.reset({ code, password }))
    history.replaceState(null, '', '/')
    return kind === 'sign-up' ? '' : 'Sign in with your new password.'
  },
  'sign-out': () => api.signOut(),
}
document.onsubmit = async (event) => {
  event.preventDefault()
  typed = [Object.fromEntries(new FormData(event.target))]
  const textOf = (error) => error.refused?.detail ?? error.message
  const text = await actions[event.submitter.value](typed[0]).catch(textOf)
  typed = []
  await show(text)
}

/** Shows the form of a mailed link, the account, or the form for the sign-in. */
async function show(text = '') {
  const name = location.hash ? 'choose' : (await api.restore()) ? 'home' : 'account'
  document.getElementById('message').textContent = text
  for (const form of document.forms) form.hidden = form.id !== name
  if (name !== 'account') document.forms.account.reset()
  if (name === 'home') document.getElementById('email').textContent = (await (await api.fetch('/me')).json()).email
}
window.onhashchange = () => show()
show()
