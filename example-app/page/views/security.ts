import type { PageClient } from '../client.js'
import { addPasskey } from '../passkeys.js'
import { change } from '../requests.js'
import { createAuthenticator } from './authenticator.js'
import { byId, element } from './dom.js'
import { createListSection } from './list-section.js'
import type { Panel } from './panel.js'

export interface SecurityParts {
  client: PageClient
  /** The domain of the passkeys. Undefined: the server has none. */
  passkeyDomain: string | undefined
  onRefused: () => void
  /** Called after a change, which signs out the other devices. */
  onChanged: () => void
}

/** Creates the sections for an authenticator app, passkeys and API keys. */
export function createSecurity({ passkeyDomain, ...parts }: SecurityParts): Panel[] {
  const { client } = parts
  const keys = createListSection({
    ...parts,
    id: 'keys',
    path: '/api-keys',
    what: 'API keys',
    caption: 'Your API keys',
    field: { name: 'name', label: 'Name of the key', type: 'text', missing: 'Enter a name for the key.' },
    button: 'Make a key',
    async add(name) {
      const body = { name, scopes: ['statements:read'], lifetime: '30d' }
      const { key } = await change<{ key: string }>(client, 'POST', '/api-keys', body)
      return [element('p', {}, 'Copy your key now. It is shown only once:'), element('p', {}, element('code', {}, key))]
    },
  })
  const others = [createAuthenticator(parts), keys]

  byId('passkeys', HTMLElement).hidden = passkeyDomain === undefined
  if (passkeyDomain === undefined) return others
  if (passkeyDomain !== location.hostname) {
    byId('passkeys-body', HTMLDivElement).append(elsewhere(passkeyDomain))
    return others
  }
  const passkeys = createListSection({
    ...parts,
    id: 'passkeys',
    path: '/passkeys',
    what: 'passkeys',
    caption: 'Your passkeys',
    field: {
      name: 'name',
      label: 'Name of the passkey',
      type: 'text',
      missing: 'Enter a name, for example that of this device.',
    },
    button: 'Add a passkey',
    async add(name) {
      await addPasskey(client, name)
      return [
        element(
          'p',
          { class: 'message', 'data-tone': 'done' },
          'The passkey is added. It signs you in without a password.',
        ),
      ]
    },
  })
  return [...others, passkeys]
}

/** Says where the page has passkeys. */
function elsewhere(hostname: string): HTMLElement {
  const url = Object.assign(new URL(location.href), { hostname, hash: '' })
  return element(
    'p',
    {},
    'Passkeys need a name in place of an IP address. Open ',
    element('a', { href: url.href }, url.href),
    '.',
  )
}
