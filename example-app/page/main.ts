import { failureOfError } from './call-failure.js'
import { signOut } from './calls.js'
import { createPageClient, type PageClient } from './client.js'
import { END_TEXTS, END_TONES, type End, INSECURE_TEXT, signInFailureText } from './messages.js'
import { claimsOf } from './token-claims.js'
import { byId } from './views/dom.js'
import { createPanels } from './views/panels.js'
import { closeSignInForm, createSignInForm } from './views/sign-in-form.js'
import { showClaims, showTimeLeft } from './views/token-card.js'
import { showSignedIn, showSignedOut } from './views/views.js'

/** The allowed difference between the clocks. A refusal this close to the expiration counts as expired. */
const NEARLY_MS = 2000

/** A session from sign-in to sign-out. */
interface Session {
  email: string
  over: AbortController
}

const reportingUrl = document.querySelector<HTMLMetaElement>('meta[name=reporting-url]')?.content || undefined
const client = openClient()
const form = createSignInForm(signIn)
const panels = createPanels(client, reportingUrl, () => end(Date.now() >= endsAt - NEARLY_MS ? 'expired' : 'refused'))
const signOutButton = byId('sign-out', HTMLButtonElement)
let session: Session | undefined
let endsAt = 0
let stopCountdown = () => {}

function openClient(): PageClient {
  try {
    return createPageClient(new URL('.', location.href), reportingUrl)
  } catch (error) {
    closeSignInForm(INSECURE_TEXT)
    throw error
  }
}

async function signIn(email: string, password: string) {
  let token: string
  try {
    token = await client.signIn({ email, password })
  } catch (error) {
    const failure = failureOfError(error)
    return { text: signInFailureText(failure), isMistake: failure.kind === 'wrong-credentials' }
  }
  show(email, token)
  return undefined
}

function show(email: string, token: string): void {
  session = { email, over: new AbortController() }
  // The token has no e-mail address. This one survives a reload.
  history.replaceState(email, '')
  showClaims(token)
  showSignedIn(email)
  load(session)
}

client.onChange(({ expiresAt }) => {
  stopCountdown()
  if (expiresAt === undefined) return
  endsAt = expiresAt
  stopCountdown = showTimeLeft(expiresAt, () => end('expired'))
})

function load({ over }: Session): void {
  for (const panel of panels) void panel.load(over.signal)
}

function end(why: End): void {
  if (!session) return
  const { email, over } = session
  session = undefined
  history.replaceState(null, '')
  over.abort()
  client.signOut()
  for (const panel of panels) panel.clear()
  showSignedOut()
  const again = why === 'expired' || why === 'refused'
  form.open(END_TEXTS[why], END_TONES[why], again ? email : undefined)
}

byId('refresh', HTMLButtonElement).addEventListener('click', () => {
  if (session) load(session)
})

signOutButton.addEventListener('click', async () => {
  if (!session || signOutButton.ariaDisabled === 'true') return
  const { signal } = session.over
  signOutButton.ariaDisabled = 'true'
  const outcome = await signOut(client, signal)
  signOutButton.ariaDisabled = 'false'
  if (signal.aborted) return
  const known = 'value' in outcome || outcome.failure.kind === 'token-refused'
  end(known ? 'signed-out' : 'forgotten')
})

// A reload.
if (client.state.expiresAt !== undefined) {
  const token = await client.token()
  show(String(history.state ?? claimsOf(token)['sub']), token)
}
