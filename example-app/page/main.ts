import { failureOfError } from './call-failure.js'
import { createPageClient, type PageClient } from './client.js'
import { END_TEXTS, END_TONES, type End, INSECURE_TEXT, signInFailureText } from './messages.js'
import { claimsOf } from './token-claims.js'
import { byId } from './views/dom.js'
import { createPanels } from './views/panels.js'
import { closeSignInForm, createSignInForm } from './views/sign-in-form.js'
import { showClaims, showTimeLeft } from './views/token-card.js'
import { showOpening, showSignedIn, showSignedOut } from './views/views.js'

/** A session from sign-in to sign-out, as this tab shows it. */
interface Session {
  email: string
  over: AbortController
}

/** The key of the user's e-mail address in `localStorage`, for a reload and for other tabs, because the token has none. */
const EMAIL = 'clearing house: e-mail'

const reportingUrl = document.querySelector<HTMLMetaElement>('meta[name=reporting-url]')?.content || undefined
const client = openClient()
const form = createSignInForm(signIn)
const panels = createPanels(client, reportingUrl, () => end('refused'))
let session: Session | undefined
let endsAt: number | undefined
let stopCountdown = () => {}

function openClient(): PageClient {
  try {
    return createPageClient(new URL('.', location.href), reportingUrl)
  } catch (error) {
    closeSignInForm(INSECURE_TEXT)
    throw error
  }
}

async function signIn(email: string, password: string, remember: boolean) {
  // Otherwise the client would refresh a session of another tab, and would send nothing after refused credentials.
  if (client.state.error || localStorage.getItem(EMAIL)) void client.signOut().catch(() => {})
  try {
    await client.signInWith({ email, password, remember })
  } catch (error) {
    const failure = failureOfError(error)
    return { text: signInFailureText(failure), isMistake: failure.kind === 'wrong-credentials' }
  }
  localStorage.setItem(EMAIL, email)
  show(email)
  return undefined
}

function show(email: string): void {
  session = { email, over: new AbortController() }
  showSignedIn(email)
  load(session)
}

client.onChange(({ expiresAt }) => {
  // A failed refresh changes the state too.
  if (expiresAt === endsAt) return
  endsAt = expiresAt
  stopCountdown()
  if (expiresAt !== undefined) {
    stopCountdown = showTimeLeft(expiresAt, showToken)
    void showToken()
  } else if (session) {
    // Another tab has signed out.
    leave()
    void restore('signed-out')
  }
})

/** Shows the claims of the token, after a refresh if necessary. */
async function showToken(): Promise<void> {
  try {
    showClaims(await client.token())
  } catch (error) {
    // After another failure, the next call tries again.
    if (failureOfError(error).kind === 'token-refused') end('refused')
  }
}

function load({ over }: Session): void {
  for (const panel of panels) void panel.load(over.signal)
}

/** Removes the data of the session from the page. */
function leave(): string | undefined {
  const email = session?.email
  session?.over.abort()
  session = undefined
  for (const panel of panels) panel.clear()
  showSignedOut()
  return email
}

function end(why: End): void {
  if (!session) return
  const email = leave()
  localStorage.removeItem(EMAIL)
  void client.signOut().catch(() => {})
  form.open(END_TEXTS[why], END_TONES[why], email)
}

/** Signs the user of an earlier session in. */
async function restore(otherwise?: End): Promise<void> {
  try {
    if (await client.restore())
      return show(localStorage.getItem(EMAIL) ?? String(claimsOf(await client.token())['sub']))
  } catch (error) {
    showSignedOut()
    return form.open(signInFailureText(failureOfError(error)), 'problem')
  }
  localStorage.removeItem(EMAIL)
  showSignedOut()
  if (otherwise) form.open(END_TEXTS[otherwise], END_TONES[otherwise])
}

byId('refresh', HTMLButtonElement).addEventListener('click', () => {
  if (session) load(session)
})

byId('sign-out', HTMLButtonElement).addEventListener('click', async () => {
  leave()
  localStorage.removeItem(EMAIL)
  const why = await client.signOut().then(
    () => 'signed-out' as const,
    () => 'forgotten' as const,
  )
  if (!session) form.open(END_TEXTS[why], END_TONES[why])
})

showOpening()
await restore()
