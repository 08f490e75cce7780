/** The options that a client under test gets. It ignores those that it has no counterpart for. */
export interface ContestantOptions {
  url: string
  credentials: (request: { refused: boolean; signal?: AbortSignal }) => unknown
  origins?: string[]
  interactive?: boolean
  /** The time limit in seconds. */
  timeout?: number
  /** The longest wait in seconds. */
  maxWait?: number
  onStepUp?: () => boolean | Promise<boolean>
}

export interface ApiResponse {
  status: number
  body: string
}

/** The parts of `RequestInit` that the faults use. */
export interface Call {
  method?: string
  body?: string | ReadableStream | URLSearchParams
  signal?: AbortSignal
}

/** A client under test. A client that lacks an optional method is not asked to pass the faults that need the method. */
export interface Contestant {
  /** Calls a path of the API, or a URL, and reads the response. */
  call(path: string, call?: Call): Promise<ApiResponse>
  /** Sends a Request object. */
  send?: ((request: Request) => Promise<ApiResponse>) | undefined
  token?: ((signal?: AbortSignal) => Promise<string>) | undefined
  signOut?: (() => void) | undefined
  close?: (() => void) | undefined
  onChange?: ((listener: (state: { expiresAt: number | undefined; error: unknown }) => void) => void) | undefined
  /** The object that a program holds, to look for secrets in it. */
  shown: unknown
}

/** Creates a client under test. */
export interface Maker {
  name: string
  /** Returns whether its errors have the codes of `TokenClientError`. */
  hasCodes: boolean
  make(options: ContestantOptions): Contestant
}
