import type { PageClient } from './client.js'
import { change, jsonOf, post } from './requests.js'

const SIGN_IN = 'api/v2013/authentication/token/passkey'

/** Less than the ten minutes for which the options of the server work. */
const OFFER_MS = 9 * 60_000

/** Makes a passkey on this device, and adds it to the account. */
export async function addPasskey(client: PageClient, name: string): Promise<void> {
  const options = await change<PublicKeyCredentialCreationOptionsJSON>(client, 'POST', '/passkeys/options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const passkey = await navigator.credentials.create({ publicKey })
  await change(client, 'POST', '/passkeys', { passkey, name })
}

/** Asks for a passkey of this device, which proves the user of this sign-in. */
export async function usePasskey(how?: CredentialRequestOptions): Promise<Credential | null> {
  const options = await jsonOf<PublicKeyCredentialRequestOptionsJSON>(await post(`${SIGN_IN}/options`, {}))
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return navigator.credentials.get({ publicKey, ...how })
}

/**
 * Signs in with a passkey of this device.
 * @param remember returns false to sign out when the browser ends
 */
export async function signInWithPasskey(
  client: PageClient,
  remember: () => boolean,
  how?: CredentialRequestOptions,
): Promise<void> {
  const passkey = await usePasskey(how)
  await client.signIn((signal) => post(SIGN_IN, { passkey, remember: remember() }, signal))
}

/** Offers the passkeys of this device in the input of the address (conditional UI). */
export interface PasskeyOffer {
  start(): void
  stop(): void
}

/**
 * Creates the offer.
 * @param remember see `signInWithPasskey`
 * @param onSignedIn called after a sign-in
 * @param onRefused called when the server has refused a passkey
 */
export function createPasskeyOffer(
  client: PageClient,
  remember: () => boolean,
  onSignedIn: () => void,
  onRefused: (error: unknown) => void,
): PasskeyOffer {
  let over = new AbortController()

  async function offer(stopped: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(OFFER_MS)
    let isChosen = false
    try {
      if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return
      const signal = AbortSignal.any([stopped, late])
      await signInWithPasskey(client, remember, { mediation: 'conditional', signal })
      isChosen = true
    } catch (error) {
      if (stopped.aborted) return
      if (late.aborted) return offer(stopped)
      // Without a server or a passkey, the page offers its form.
      if (error instanceof Error && error.name === 'TokenClientError') onRefused(error)
    }
    if (isChosen && !stopped.aborted) onSignedIn()
  }

  return {
    start() {
      over.abort()
      over = new AbortController()
      void offer(over.signal)
    },
    stop: () => over.abort(),
  }
}
