import type { DemoAccount } from '../data/demo.js'

export type ServiceName = 'clearing-house' | 'reporting'

export const TITLES: Record<ServiceName, string> = {
  'clearing-house': 'clearing-house API',
  reporting: 'online reporting API',
}

/** What is to be told of a service that listens. */
export interface Ready {
  url: string
  /** Accounts that anybody can sign in to. */
  demo: readonly DemoAccount[]
}

/** Something that serves: in this process, or in others that it looks after. */
export interface Service {
  ready: Ready
  /** Lets the requests in flight finish, and ends. */
  stop(): Promise<void>
  /** The same without any hurry, because another process has taken over. */
  retire?(): Promise<void>
  /**
   * Puts new processes in the place of the old ones, one after the other.
   * @returns whether all of them are new
   */
  restart?(): Promise<boolean>
  /** Tells it where browsers find the reporting API, which starts after it. */
  introduce?(reportingUrl: string): void
  /** Resolves when it cannot go on; what is left of it is to be stopped. */
  failed?: Promise<void>
}
