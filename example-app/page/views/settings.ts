import type { PageClient } from '../client.js'
import { problemOf } from '../problems.js'
import { mailBoxHint, NEW_PASSWORD } from './cards.js'
import { byId, element } from './dom.js'
import { createForm, type Form } from './form.js'

export interface SettingsParts {
  client: PageClient
  hasMailBox: boolean
  /** Called when the other devices are signed out. */
  onChanged: () => void
  /** Deletes the account. */
  remove: () => Promise<void>
}

/** Creates the forms that change the account. */
export function createSettings({ client, hasMailBox, onChanged, remove }: SettingsParts) {
  const body = byId('settings-body', HTMLDivElement)

  const passwordForm = (email: string): Form & { node: HTMLElement } => {
    const form = createForm({
      id: 'password-change',
      username: email,
      fields: [
        {
          name: 'password',
          label: 'Current password',
          type: 'password',
          autocomplete: 'current-password',
          missing: 'Enter your current password.',
        },
        NEW_PASSWORD,
      ],
      button: 'Change the password',
      busy: 'Changing …',
      async submit({ password = '', newPassword = '' }) {
        try {
          await client.changePassword({ password, newPassword })
        } catch (error) {
          return problemOf(error, { invalid_credentials: { text: 'Your current password is wrong.', at: 'password' } })
        }
        form.say('Your password is changed, and your other devices are signed out.', 'done')
        onChanged()
        return undefined
      },
    })
    return form
  }

  const addressForm = () => {
    const form = createForm({
      id: 'address-change',
      fields: [
        {
          name: 'email',
          label: 'New email',
          type: 'email',
          autocomplete: 'email',
          missing: 'Enter your new address.',
        },
      ],
      button: 'Send the mail',
      busy: 'Sending …',
      async submit({ email = '' }) {
        try {
          await client.changeAddress(email)
        } catch (error) {
          return problemOf(error)
        }
        form.say(`A mail to ${email} is on its way. Your address changes when you open its link.`, 'done')
        return undefined
      },
    })
    return form
  }

  const deletionForm = () =>
    createForm({
      id: 'deletion',
      fields: [
        {
          name: 'sure',
          label: 'Delete my account and its statements',
          type: 'checkbox',
          missing: 'Tick the box first.',
        },
      ],
      button: 'Delete the account',
      busy: 'Deleting …',
      submit: () => remove().then(() => undefined, problemOf),
    })

  const part = (title: string, ...nodes: Node[]) => element('details', {}, element('summary', {}, title), ...nodes)

  return {
    /** Shows the forms. */
    open(email: string) {
      body.replaceChildren(
        part('Change the password', passwordForm(email).node),
        ...(hasMailBox ? [part('Change the email address', addressForm().node, mailBoxHint())] : []),
        part('Delete the account', deletionForm().node),
      )
    },
    clear: () => body.replaceChildren(),
  }
}
