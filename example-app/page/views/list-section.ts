import { failureOfError } from '../call-failure.js'
import type { PageClient } from '../client.js'
import { problemOf } from '../problems.js'
import { change, jsonOf } from '../requests.js'
import { byId, element } from './dom.js'
import { createForm, type Field } from './form.js'
import { createPanel, type Panel } from './panel.js'
import { namedTable } from './tables.js'

/** A passkey or an API key of the account. */
export interface Owned {
  id: string
  name: string | null
  lastUsedAt: string | null
}

export interface ListSectionParts {
  client: PageClient
  /** The id of the section. */
  id: 'passkeys' | 'keys'
  /** The path below the account, and the member of its response. */
  path: '/passkeys' | '/api-keys'
  what: string
  caption: string
  /** The input of a new name. */
  field: Field
  button: string
  /** Adds one. Returns what to show once. */
  add: (name: string) => Promise<readonly Node[]>
  onRefused: () => void
  onChanged: () => void
}

/** Creates a section with a list, a button that removes each entry, and a form that adds one. */
export function createListSection(parts: ListSectionParts): Panel {
  const { client, id, path, what, caption, field, button, add, onRefused, onChanged } = parts
  const title = byId(`${id}-title`, HTMLHeadingElement)
  const place = byId(`${id}-form`, HTMLDivElement)
  const once = element('div', { role: 'status' })

  const form = createForm({
    id: `${id}-new`,
    fields: [field],
    button,
    busy: 'One moment …',
    async submit({ name = '' }) {
      once.replaceChildren()
      try {
        once.replaceChildren(...(await add(name)))
      } catch (error) {
        return problemOf(error)
      }
      form.clear()
      onChanged()
      return undefined
    },
  })

  async function remove({ id: removed, name }: Owned): Promise<void> {
    // The button disappears.
    title.focus()
    once.replaceChildren()
    try {
      await change(client, 'DELETE', `${path}/${encodeURIComponent(removed)}`)
      form.say(`Removed: ${name ?? 'without a name'}.`, 'done')
    } catch (error) {
      form.say(problemOf(error).text, 'problem')
    }
    onChanged()
  }

  const panel = createPanel<Owned[]>({
    id,
    what,
    api: 'clearing-house API',
    load: async (signal) => {
      try {
        const response = await client.fetch(`/auth/account${path}`, { signal })
        return { value: Object.values(await jsonOf<Record<string, Owned[]>>(response)).flat() }
      } catch (error) {
        return { failure: failureOfError(error) }
      }
    },
    draw: (list) =>
      list.length === 0
        ? [element('p', { class: 'quiet' }, 'There are none yet.')]
        : [namedTable(caption, list, remove)],
    onRefused,
  })
  return {
    load(signal) {
      if (!place.hasChildNodes()) place.append(once, form.node)
      return panel.load(signal)
    },
    clear() {
      panel.clear()
      once.replaceChildren()
      form.clear()
      form.say('', 'note')
      place.replaceChildren()
    },
  }
}
