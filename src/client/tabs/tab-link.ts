import type { Grant } from '../grant.js'

/** The part of `navigator.locks` (Web Locks API) that the client uses. */
export interface Locks {
  request<T>(name: string, options: { mode?: 'shared'; signal?: AbortSignal }, work: () => Promise<T>): Promise<T>
  query(): Promise<{ held: readonly { name: string }[] }>
}

/** The part of the client that a link to other tabs uses. */
export interface TabOwner {
  /** The URL of the token endpoint. Tabs with the same URL share their sign-in. */
  readonly tokenUrl: string
  /** Returns the held token. An old one is not shared with other tabs. */
  held(): SharedToken | undefined
  /** Called with the news of another tab. */
  hear(news: News): void
}

/** The held token of a tab. */
export interface SharedToken {
  /** The token. */
  readonly grant: Grant
  /** Returns whether the token must be replaced. */
  isOld(): boolean
}

/** A token, or the end of a session, or of the attempts to begin one: the server refused the credentials. */
export type News = Grant | 'sign-out' | 'refused'

/** A link to the other tabs. */
export interface TabLink {
  /** The generation that this tab knows. 0 before it knows one. A link that shares nothing omits it. */
  generation?: number
  /** Returns the token with which a session begins. A link that keeps nothing omits it. */
  kept?(): Grant | undefined
  /** Asks the other tabs for a token, and waits for their responses. */
  ask(): Promise<void> | void
  /** Runs a token call while no other tab does. A link that shares nothing omits it. */
  alone?(call: () => Promise<Grant | undefined>, signal: AbortSignal): Promise<Grant | undefined>
  /** Sends news to the other tabs. */
  tell(news: News): void
  /** Ends the link. */
  close(): void
}

/** The result of `shareBetweenTabs`, for the option `tabs`. */
export type TabSharing = (owner: TabOwner) => TabLink

/** Returns the token to share with other tabs. */
export function shareable({ held }: TabOwner): Grant | undefined {
  const one = held()
  return one?.isOld() ? undefined : one?.grant
}

/** The link of a client that shares nothing. */
export const NO_TABS: TabLink = {
  ask() {},
  tell() {},
  close() {},
}
