export const HAS_POSTGRES: boolean
export const HOW_TO_GET_POSTGRES: string
export const PASSWORD: string

export interface PostgresServer {
  port: number
  /** Returns the ids of all processes. */
  pids(): number[]
  /** Creates a database. Returns its URL with the password. */
  createDatabase(): Promise<string>
  start(): Promise<void>
  /** Kills the server like a crash, without ending transactions. */
  kill(): Promise<void>
  /** Pauses all its processes. Connections stay open and get no response. */
  pause(): void
  resume(): void
  /** Kills the server and deletes its folder. */
  remove(): Promise<void>
}

export function postgresServer(options?: { settings?: readonly string[] }): Promise<PostgresServer>
