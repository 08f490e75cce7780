import type { ClientSettings } from '../client-options.js'

/** The part of `localStorage` that the client uses. */
interface BrowserStorage {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
  removeItem(name: string): void
}

/** The first character of a text that names a sign-in. */
const SIGN_IN = '+'

/**
 * Returns what the tabs of an origin share in cookie mode, where no script can read or delete the refresh token: one random text.
 *
 * - After a sign-in, the text names it, so that no other tab sends what one person has typed with the token of the next person.
 * - From a sign-out until the server has ended the session, the text is a note, so that no reload brings the user back.
 */
export function createTabs({ refresh, name }: ClientSettings) {
  /** The text of this client, where the browser has not stored it. */
  let unsaved: string | undefined
  const use = <T>(work: (storage: BrowserStorage) => T) =>
    refresh === 'cookie' ? work((globalThis as unknown as { localStorage: BrowserStorage }).localStorage) : undefined

  function load(): string {
    try {
      return (unsaved ?? use((storage) => storage.getItem(name))) || ''
    } catch {
      return ''
    }
  }

  function write(text: string): void {
    unsaved = text
    try {
      use((storage) => (text ? storage.setItem(name, text) : storage.removeItem(name)))
      unsaved = undefined
    } catch {
      // Without storage, only this client has it.
    }
  }

  const replace = (note: string, text: string) => note === tabs.note() && write(text)

  const tabs = {
    /** The sign-in of this client. */
    own: load(),
    load,
    /** Returns whether somebody has signed in in another tab. */
    isOver: () => load() !== tabs.own && load()[0] === SIGN_IN,
    /** Returns the note of a sign-out. Empty when there is none. */
    note: () => (load()[0] === SIGN_IN ? '' : load()),
    /** Notes a sign-in, in place of the note from before it. A later sign-out counts more. */
    signIn(note: string): void {
      tabs.own = SIGN_IN + Math.random()
      replace(note, tabs.own)
    },
    /** Notes a sign-out. */
    signOut: () => write(String(Math.random())),
    /** Removes the note of a sign-out that has reached the server. */
    end: (note: string) => note && replace(note, ''),
  }
  return tabs
}
