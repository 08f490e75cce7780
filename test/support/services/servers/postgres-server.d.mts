export const HAS_POSTGRES: boolean
export const HOW_TO_GET_POSTGRES: string
export const PASSWORD: string

export interface PostgresServer {
  port: number
  /** All of its processes. */
  pids(): number[]
  /** Makes a database, and gives its URL, with the password in it. */
  createDatabase(): Promise<string>
  start(): Promise<void>
  /** Ends it without a word to its clients' transactions, as a crash would. */
  kill(): Promise<void>
  /** Pauses all its processes. Connections stay open and get no response. */
  pause(): void
  resume(): void
  /** Kills it and deletes its folder. */
  remove(): Promise<void>
}

export function postgresServer(options?: { settings?: readonly string[] }): Promise<PostgresServer>
