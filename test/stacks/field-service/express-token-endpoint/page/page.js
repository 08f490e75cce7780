import { createTokenClient } from '/token-client/client.js'

const find = (selector) => document.querySelector(selector)
const show = (text = '') => {
  find('[role=alert]').textContent = text
}
const fail = ({ refused }) => show(refused?.detail ?? 'That did not work. Try again later.')
const fieldsOf = (form) => Object.fromEntries(new FormData(form))

/** Shows a form until it is sent. Returns its fields. */
const ask = (form, refused) =>
  new Promise((resolve) => {
    if (refused) show(refused.detail ?? 'The e-mail address or the password is wrong.')
    form.hidden = false
    form.onsubmit = () => {
      resolve(fieldsOf(form))
      form.hidden = true
      form.reset()
      return false
    }
  })

const api = createTokenClient({
  url: location.origin,
  refresh: 'cookie',
  interactive: true,
  async credentials({ refused }) {
    if (/^(code_required|wrong_code)$/.test(refused?.code)) return ask(find('#code'), refused)
    const { remember, ...credentials } = await ask(find('#sign-in'), refused)
    return { ...credentials, remember: remember === 'on' }
  },
  onStepUp: (_response, { refused }) => ask(find('#step-up'), refused),
})

const read = async (path, method = 'GET') => (await api.fetch(path, { method })).json()

function item(text, buttons) {
  const li = document.createElement('li')
  li.append(text)
  for (const [label, act] of Object.entries(buttons)) {
    const button = document.createElement('button')
    Object.assign(button, { textContent: label, onclick: () => act().then(showApp, fail) })
    li.append(button)
  }
  return li
}

async function showApp() {
  const [me, jobs, { sessions }] = await Promise.all([read('/me'), read('/jobs'), read('/sessions')])
  find('#me').textContent = `${me.name}, ${me.email}`
  find('#jobs').replaceChildren(
    ...jobs.map(({ id, title, report }) =>
      item(`${title}: ${report ?? 'open'}`, {
        async Report() {
          const headers = { 'Content-Type': 'application/json' }
          const body = JSON.stringify({ report: prompt('What did you do?') })
          await api.fetch(`/jobs/${id}/report`, { method: 'POST', headers, body })
        },
        Download: async () => location.assign((await read(`/jobs/${id}/link`, 'POST')).url),
      }),
    ),
  )
  find('#devices').replaceChildren(
    ...sessions.map(({ id, userAgent, current }) =>
      item(`${userAgent}${current ? ', this one' : ''}`, {
        'End it': () => api.fetch(`/sessions/${id}`, { method: 'DELETE' }),
      }),
    ),
  )
  main.hidden = false
}

/** Shows each change of a job. The stream ends with the token, and then begins anew. */
async function follow() {
  const { body } = await api.fetch('/changes')
  const reader = body.getReader()
  while (!(await reader.read()).done) await showApp()
}
const keepFollowing = () => follow().catch(() => api.state.expiresAt && setTimeout(keepFollowing, 5000))

const main = find('main')
async function start() {
  await showApp()
  keepFollowing()
}

/** Runs an action that ends with a message. */
const on = (event, selector, act, message) => {
  find(selector)[event] = ({ target }) => {
    act(fieldsOf(target.closest('form') ?? undefined)).then(() => show(message), fail)
    return false
  }
}
on('onclick', '#sign-up', ({ email }) => api.signUp(email), 'Open the link that we have mailed to you.')
on('onclick', '#forgotten', ({ email }) => api.forgotten(email), 'Open the link that we have mailed to you.')
on('onsubmit', '#password', api.changePassword, 'The password is changed.')
on('onsubmit', '#address', ({ email }) => api.changeAddress(email), 'Open the link in the mail to the new address.')
on('onclick', '#remove', () => api.remove().then(leave), 'The account is deleted.')
on('onclick', '#sign-out', () => api.signOut().then(leave))

function leave() {
  main.hidden = true
  start().catch(fail)
}

const [, kind, code] = /^#([a-z-]+)=(.+)/.exec(location.hash) ?? []
history.replaceState(null, '', '/')
/** Asks for a password until it may be used. The code stays valid meanwhile. */
async function setPassword(set) {
  for (let refused; ; ) {
    const fields = await ask(find('#by-mail'), refused)
    try {
      return await set({ code, ...fields })
    } catch (error) {
      refused = error.refused
      if (refused?.code !== 'weak_password') throw error
    }
  }
}
find('#name').hidden = kind !== 'sign-up'
if (kind === 'sign-up') await setPassword(api.confirm).catch(fail)
if (kind === 'password-reset') await setPassword(api.reset).catch(fail)
if (kind === 'new-address') await api.confirmAddress(code).catch(fail)
start().catch(fail)
