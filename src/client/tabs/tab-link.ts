import type { Grant } from '../grant.js'

/** The part of the client that a link to other tabs uses. */
export interface TabOwner {
  /** The URL of the token endpoint. Tabs with the same URL share their sign-in. */
  readonly tokenUrl: string
  /** Returns the token to share with other tabs. */
  held(): Grant | undefined
  /** Called with a token of another tab. */
  adopt(grant: Grant): void
  /** Called when another tab has signed out. */
  signedOut(): void
  /** Called when the server has refused the credentials of another tab. */
  refused(): void
}

/** The end of a session, or of the attempts to begin one. */
export type News = 'sign-out' | 'refused'

/** A link to the other tabs. */
export interface TabLink {
  /** Asks the other tabs for a token, and waits for their responses. */
  ask(): Promise<void>
  /** Runs a token call while no other tab does. */
  alone(call: () => Promise<Grant>, signal: AbortSignal): Promise<Grant>
  /** Sends a token or news to the other tabs. */
  tell(message: Grant | News): void
  /** Ends the link. */
  close(): void
}

/** The result of `shareBetweenTabs`, for the option `tabs`. */
export type TabSharing = (owner: TabOwner) => TabLink

/** The link of a client that shares nothing. */
export const NO_TABS: TabLink = {
  ask: async () => {},
  alone: (call) => call(),
  tell() {},
  close() {},
}
