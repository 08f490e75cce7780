import { signIn, signOut } from './calls.js'
import { END_TEXTS, END_TONES, type End, signInFailureText } from './messages.js'
import type { Session } from './session.js'
import { byId } from './views/dom.js'
import { createPanels } from './views/panels.js'
import { createSignInForm } from './views/sign-in-form.js'
import { showToken } from './views/token-card.js'
import { showSignedIn, showSignedOut } from './views/views.js'

/** The allowed difference between the clocks. A refusal this close to the expiration counts as expired. */
const NEARLY_MS = 2000

const form = createSignInForm(async (email, password) => {
  const outcome = await signIn(email, password)
  if ('failure' in outcome) {
    const { failure } = outcome
    return { text: signInFailureText(failure), isMistake: failure.kind === 'wrong-credentials' }
  }
  begin(outcome.value)
  return undefined
})
const panels = createPanels((session) => end(session, Date.now() >= session.endsAt - NEARLY_MS ? 'expired' : 'refused'))
const signOutButton = byId('sign-out', HTMLButtonElement)
let current: Session | undefined

function begin(session: Session): void {
  current = session
  showSignedIn(session)
  const stop = showToken(session, () => end(session, 'expired'))
  session.signal.addEventListener('abort', stop)
  for (const panel of panels) void panel.load(session)
}

function end(session: Session, why: End): void {
  if (session.signal.aborted) return
  session.close()
  for (const panel of panels) panel.clear()
  showSignedOut()
  const again = why === 'expired' || why === 'refused'
  form.open(END_TEXTS[why], END_TONES[why], again ? session.email : undefined)
}

byId('refresh', HTMLButtonElement).addEventListener('click', () => {
  if (current) for (const panel of panels) void panel.load(current)
})

signOutButton.addEventListener('click', async () => {
  const session = current
  if (!session || signOutButton.ariaDisabled === 'true') return
  signOutButton.ariaDisabled = 'true'
  const outcome = await signOut(session)
  signOutButton.ariaDisabled = 'false'
  const known = 'value' in outcome || outcome.failure.kind === 'token-refused'
  end(session, known ? 'signed-out' : 'forgotten')
})
