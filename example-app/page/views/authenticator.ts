import { ownAccount } from '../account-calls.js'
import { failureOfError } from '../call-failure.js'
import type { PageClient } from '../client.js'
import { problemOf } from '../problems.js'
import { change } from '../requests.js'
import { OTP } from './code-form.js'
import { byId, element } from './dom.js'
import { createForm } from './form.js'
import { createPanel, type Panel } from './panel.js'
import { qrCode } from './qr-code.js'

export interface AuthenticatorParts {
  client: PageClient
  onRefused: () => void
  /** Called when the other devices are signed out. */
  onChanged: () => void
}

/** Creates the section of the authenticator app: its set-up, its recovery codes and its removal. */
export function createAuthenticator({ client, onRefused, onChanged }: AuthenticatorParts): Panel {
  const title = byId('authenticator-title', HTMLHeadingElement)
  const steps = byId('authenticator-steps', HTMLDivElement)

  const say = (text: string, tone: 'problem' | 'done') =>
    steps.replaceChildren(element('p', { class: 'message', 'data-tone': tone, role: 'alert' }, text))

  /** Creates a button that shows its failure below. */
  function action(label: string, act: () => Promise<void>): HTMLButtonElement {
    const button = element('button', { type: 'button' }, label)
    button.addEventListener('click', () => act().catch((error) => say(problemOf(error).text, 'problem')))
    return button
  }

  async function begin(): Promise<void> {
    const { secret, uri } = await change<{ secret: string; uri: string }>(client, 'POST', '/totp')
    const form = createForm({
      id: 'authenticator',
      fields: [{ ...OTP, label: 'Code of the app' }],
      button: 'Switch on',
      busy: 'Checking …',
      submit: ({ otp = '' }) => confirm(otp.trim()).then(() => undefined, problemOf),
    })
    steps.replaceChildren(
      element(
        'p',
        {},
        'Scan this with your authenticator app, or type the secret. Then enter the code that the app shows.',
      ),
      qrCode(uri, 'QR code for your authenticator app'),
      element('p', {}, 'Secret: ', element('code', {}, secret.replace(/.{4}(?=.)/g, '$& '))),
      form.node,
    )
    form.reset()
  }

  async function confirm(otp: string): Promise<void> {
    showCodes(await change(client, 'POST', '/totp/confirm', { otp }))
    onChanged()
  }

  async function renew(): Promise<void> {
    showCodes(await change(client, 'POST', '/recovery-codes'))
    onChanged()
  }

  async function remove(): Promise<void> {
    await change(client, 'DELETE', '/totp')
    say('The authenticator app is removed.', 'done')
    title.focus()
    onChanged()
  }

  function showCodes({ recoveryCodes }: { recoveryCodes: string[] }): void {
    const heading = element('h3', { tabindex: -1 }, 'Your recovery codes')
    const done = element('button', { type: 'button', class: 'main' }, 'I have saved them')
    done.addEventListener('click', () => {
      steps.replaceChildren()
      title.focus()
    })
    steps.replaceChildren(
      heading,
      element('p', {}, 'Each code signs you in once without the app. Print them: they are shown only now.'),
      element('ul', { class: 'codes' }, ...recoveryCodes.map((code) => element('li', {}, element('code', {}, code)))),
      done,
    )
    heading.focus()
  }

  const panel = createPanel<boolean>({
    id: 'authenticator',
    what: 'authenticator app',
    api: 'clearing-house API',
    load: async (signal) => {
      try {
        return { value: (await ownAccount(client, signal)).secondFactor }
      } catch (error) {
        return { failure: failureOfError(error) }
      }
    },
    draw: (isOn) =>
      isOn
        ? [
            element('p', {}, 'Your sign-in asks for the code of your app.'),
            action('Get new recovery codes', renew),
            action('Remove the app', remove),
          ]
        : [
            element('p', {}, 'Let your sign-in ask for a code of your phone too.'),
            action('Set up an authenticator app', begin),
          ],
    onRefused,
  })
  return {
    load: panel.load,
    clear() {
      panel.clear()
      steps.replaceChildren()
    },
  }
}
