import { type MailKind, ownAccount } from './account-calls.js'
import { failureOfError } from './call-failure.js'
import { createPageClient, type PageClient } from './client.js'
import { type Link, takeLink } from './links.js'
import { END_TEXTS, END_TONES, type End, INSECURE_TEXT, signInFailureText, type Tone } from './messages.js'
import { createPasskeyOffer, signInWithPasskey, usePasskey } from './passkeys.js'
import { type Problem, problemOf } from './problems.js'
import { showLinkCard, showMailCard } from './views/cards.js'
import { askForCode } from './views/code-form.js'
import { byId } from './views/dom.js'
import { createPanels } from './views/panels.js'
import { createSecurity } from './views/security.js'
import { createSettings } from './views/settings.js'
import { closeSignInForm, createSignInForm } from './views/sign-in-form.js'
import { createStepUp } from './views/step-up.js'
import { showClaims, showTimeLeft } from './views/token-card.js'
import { showOpening, showSignedIn, showSignedOut } from './views/views.js'

/** A session from sign-in to sign-out, as this tab shows it. */
interface Session {
  email: string
  over: AbortController
}

/** The key of the user's email address in `localStorage`, which tells all tabs that somebody is signed in. */
const EMAIL = 'clearing house: email'

const metaOf = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content || undefined
const reportingUrl = metaOf('reporting-url')
const hasMailBox = metaOf('mail-box') !== undefined
const passkeyDomain = metaOf('passkeys')
const hasPasskeys = passkeyDomain === location.hostname
const stepUp = createStepUp(hasPasskeys ? usePasskey : undefined)
const client = openClient()
const form = createSignInForm(signIn)
const onRefused = () => end('refused')
const onChanged = () => session && load(session)
const panels = [
  ...createPanels(client, reportingUrl, onRefused),
  ...createSecurity({ client, passkeyDomain, onRefused, onChanged }),
]
const offer = createPasskeyOffer(client, form.remembers, beginByPasskey, refusePasskey)
const settings = createSettings({ client, hasMailBox, onChanged, remove })
let session: Session | undefined
/** A link that waits for the sign-in. */
let waiting: Link | undefined
let endsAt: number | undefined
let stopCountdown = () => {}
/** The reason that the page shows when the client has signed out by itself. */
let reason: End = 'signed-out'

function openClient(): PageClient {
  try {
    return createPageClient({ url: new URL('.', location.href), reportingUrl, onStepUp: stepUp.ask, askForCode })
  } catch (error) {
    closeSignInForm(INSECURE_TEXT)
    throw error
  }
}

async function signIn(email: string, password: string, remember: boolean): Promise<Problem | undefined> {
  offer.stop()
  // Otherwise the client would refresh a session of another tab, and would send nothing after refused credentials.
  if (client.state.error || localStorage.getItem(EMAIL)) void client.signOut().catch(() => {})
  try {
    await client.signInWith({ email, password, remember })
  } catch (error) {
    const failure = failureOfError(error)
    // The question for a code has replaced the form.
    askToSignIn()
    return {
      text: signInFailureText(failure),
      ...(['wrong-credentials', 'cancelled'].includes(failure.kind) && { at: 'password' }),
    }
  }
  begin(email)
  return undefined
}

/** Shows the form, and offers the passkeys of this device. */
function askToSignIn(text?: string, tone: Tone = 'note', email?: string): void {
  showSignedOut()
  if (text !== undefined) form.open(text, tone, email)
  if (hasPasskeys) offer.start()
}

async function beginByPasskey(): Promise<void> {
  try {
    begin((await ownAccount(client)).email)
  } catch (error) {
    refusePasskey(error)
  }
}

/** Shows the problem of a passkey in the form, and offers the passkeys again. */
function refusePasskey(error: unknown): void {
  const unknown = { text: 'This passkey does not work any more.' }
  askToSignIn(problemOf(error, { invalid_credentials: unknown }).text, 'problem')
}

/** Shows the account, unless a link has waited for the sign-in. */
function begin(email: string, message?: string): void {
  offer.stop()
  localStorage.setItem(EMAIL, email)
  session = { email, over: new AbortController() }
  const link = waiting
  waiting = undefined
  if (link) openLink(link)
  else show(session, message)
}

function show(shown: Session, message?: string): void {
  showSignedIn(shown.email, message)
  settings.open(shown.email)
  // The token may be that of the view before.
  void showToken()
  load(shown)
}

client.onChange(({ expiresAt }) => {
  // A failed refresh changes the state too.
  if (expiresAt === endsAt) return
  stepUp.forget()
  endsAt = expiresAt
  stopCountdown()
  if (expiresAt !== undefined) {
    stopCountdown = showTimeLeft(expiresAt, showToken)
    void showToken()
  } else if (session) {
    // Another tab has signed out, or the account is deleted.
    leave()
    void restore(reason)
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
  settings.clear()
  showSignedOut()
  return email
}

/** Ends the session here, and at the server. */
function forget(): void {
  localStorage.removeItem(EMAIL)
  void client.signOut().catch(() => {})
}

function end(why: End): void {
  if (!session) return
  const email = leave()
  forget()
  askToSignIn(END_TEXTS[why], END_TONES[why], email)
}

/** Deletes the account. Then the client signs out. */
async function remove(): Promise<void> {
  reason = 'removed'
  try {
    await client.remove()
  } finally {
    reason = 'signed-out'
  }
}

/** Signs the user of an earlier session in. */
async function restore(otherwise?: End): Promise<void> {
  try {
    // Asks the server, because another person may have signed in in another tab.
    if (await client.restore()) return begin((await ownAccount(client)).email)
  } catch (error) {
    return askToSignIn(signInFailureText(failureOfError(error)), 'problem')
  }
  localStorage.removeItem(EMAIL)
  const why = waiting ? 'must-confirm' : otherwise
  if (why) askToSignIn(END_TEXTS[why], END_TONES[why])
  else askToSignIn()
}

/** Shows what a link is for. Only a signed-in user can confirm a new address. */
function openLink(link: Link): void {
  offer.stop()
  if (link.kind === 'new-address' && !session) {
    waiting = link
    void restore()
  } else showLinkCard(client, link, () => finish(link), goBack)
}

/** Continues after a link has done what it is for. */
async function finish({ kind }: Link): Promise<void> {
  if (kind === 'password-reset') {
    leave()
    forget()
    askToSignIn(END_TEXTS.reset, END_TONES.reset)
    return
  }
  const { email } = await ownAccount(client)
  leave()
  begin(email, kind === 'new-address' ? 'Your address is changed.' : undefined)
}

function goBack(): void {
  if (session) show(session)
  else {
    showOpening()
    void restore()
  }
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
  if (!session) askToSignIn(END_TEXTS[why], END_TONES[why])
})

const ways = byId('other-ways', HTMLDivElement)
ways.hidden = !hasMailBox
for (const button of ways.querySelectorAll('button'))
  button.addEventListener('click', () => {
    offer.stop()
    showMailCard(client, button.dataset['mail'] as MailKind, goBack)
  })

const passkeyButton = byId('passkey-sign-in', HTMLButtonElement)
passkeyButton.hidden = !hasPasskeys
passkeyButton.addEventListener('click', async () => {
  offer.stop()
  try {
    await signInWithPasskey(client, form.remembers)
    await beginByPasskey()
  } catch (error) {
    refusePasskey(error)
  }
})

// A link that is pasted into the address of this page loads nothing.
addEventListener('hashchange', () => {
  const link = takeLink()
  if (link) openLink(link)
})

showOpening()
const link = takeLink()
if (link) openLink(link)
else await restore()
