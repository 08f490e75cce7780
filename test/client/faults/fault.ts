import type { FaultServer } from './server.js'

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

export type Ability = 'send' | 'token' | 'signOut' | 'close' | 'onChange' | 'origins' | 'person' | 'stepUp' | 'options'

/** The things that a fault works with. */
export interface Kit {
  /** The API, with its token endpoint. */
  server: FaultServer
  /** Another origin. */
  other: FaultServer
  /** Creates the client under test, with the credentials of the account. */
  start(options?: Partial<ContestantOptions>): Contestant
  /** Creates the client, and lets it sign in for a call. */
  signedIn(): Promise<Contestant>
  /** Lets time pass, for the client and the servers. A machine that sleeps stops its steady clock. */
  pass(ms: number, how?: { asleep?: boolean }): void
  /** Expects that neither the client nor an error so far shows the token or the password. */
  mustHide(): void
  /** Expects a rejection, and a code where the client has codes. The code of a signal's reason is a number. Returns the error. */
  fails(call: Promise<unknown>, code: string | number): Promise<unknown>
}

/** An ability that a client must have for a fault. `waits`: the fault waits for a timer and moves no clock, so others may run meanwhile. */
type Tag = Ability | 'waits'
type Run = (kit: Kit) => Promise<void>

/** A fault of a server, a network, a clock or a caller, and what a client must do about it. */
export interface Fault {
  name: string
  tags: readonly Tag[]
  run: Run
}

export function fault(name: string, run: Run): Fault
export function fault(name: string, tags: readonly Tag[], run: Run): Fault
export function fault(name: string, ...more: [Run] | [readonly Tag[], Run]): Fault {
  const [tags, run] = more.length === 1 ? [[], more[0]] : more
  return { name, tags, run }
}

/** A mistake of a client, in words for the documentation. */
export class Failed extends Error {}

/** @throws Failed unless the client did as it must */
export function must(fits: boolean, what: string): asserts fits {
  if (!fits) throw new Failed(what)
}

/** @throws Failed unless the server has received this number of token calls */
export function mustSignIn({ seen }: FaultServer, expected: number): void {
  const { length } = seen.token
  must(length === expected, `signs in ${times(length)}, not ${times(expected)}`)
}

/** @throws Failed when the server has received more token calls */
export function mustSignInAtMost({ seen }: FaultServer, most: number, during: string): void {
  const { length } = seen.token
  must(length <= most, `signs in ${length} times ${during}`)
}

/** @throws Failed unless a call got this status */
export function mustGet({ status }: { status: number }, expected: number): void {
  must(status === expected, `the caller gets ${status}, not ${expected}`)
}

/** @throws Failed unless the API has received this number of requests */
export function mustCall({ seen }: FaultServer, expected: number): void {
  const { length } = seen.api
  must(length === expected, `sends ${length === 1 ? 'one request' : `${length} requests`}, not ${expected}`)
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

/** Returns the results of concurrent calls. */
export const together = <T>(count: number, call: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, call))

/** Waits until a condition is true. The test's time limit ends the wait. */
export async function eventually(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** Holds all token calls until the returned function is called. */
export function holdSignIns(server: FaultServer): () => void {
  const { opened, open } = gate()
  server.always.token = (res, seen) => opened.then(() => server.answerToken(res, seen))
  return open
}

/** A promise, and the function that fulfils it. */
export function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
