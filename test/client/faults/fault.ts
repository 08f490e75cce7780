import { inspect } from 'node:util'
import {
  type CredentialsRequest,
  createTokenClient,
  type TokenClient,
  type TokenClientOptions,
} from 'express-token-endpoint/client'
import { expect } from 'vitest'
import { deferred } from '../../support/concurrency.js'
import { rejectionOf } from '../../support/failures.js'
import { EMAIL, type FaultServer, PASSWORD, startFaultServer } from './server.js'

/** A client whose calls return the response with its body. */
export interface Client extends TokenClient {
  call(input: string | Request, init?: RequestInit): Promise<{ status: number; body: string }>
  /** Returns how often the client has asked for the credentials of the account. */
  asked(): number
}

/** The credentials of a fault may be invalid. */
type Options = Partial<Omit<TokenClientOptions, 'credentials'>> & {
  credentials?: (request: CredentialsRequest) => unknown
}

/** The things that a fault works with. */
export interface Kit {
  /** The API, with its token endpoint. */
  server: FaultServer
  /** Another origin. */
  other: FaultServer
  /** Creates a client with the credentials of the account. */
  start(options?: Options): Client
  /** Creates a client, and lets it sign in for a call. */
  signedIn(): Promise<Client>
  /** Lets time pass, for the client and the servers. A machine that sleeps stops its steady clock. */
  pass(ms: number, how?: { asleep?: boolean }): void
  /** Expects a rejection with a code. The code of a signal's reason is a number. Returns the error. */
  fails(call: Promise<unknown>, code: string | number): Promise<unknown>
}

type Run = (kit: Kit) => Promise<void>

/** A fault of a server, a network, a clock or a caller, and what the client must do about it. */
export interface Fault {
  name: string
  run: Run
  /** The fault waits for a timer and moves no clock, so others may run meanwhile. */
  waits: boolean
}

export const fault = (name: string, run: Run): Fault => ({ name, run, waits: false })
export const waitingFault = (name: string, run: Run): Fault => ({ name, run, waits: true })

const real = { date: Date.now.bind(Date), steady: performance.now.bind(performance) }

/** Moves the client's clocks. The clocks of the servers and the timers stay as they are. */
function moveClocks({ wall = 0, steady = 0 }: { wall?: number; steady?: number }): void {
  const [date, now] = [Date.now, performance.now]
  Date.now = () => date.call(Date) + wall
  performance.now = () => now.call(performance) + steady
}

/** Runs one fault. No object and no error of the client may show a secret at any fault. */
export async function runFault({ run }: Fault): Promise<void> {
  const [server, other] = await Promise.all([startFaultServer(), startFaultServer()])
  const shown: unknown[] = []
  const clients: TokenClient[] = []

  function start(options: Options = {}): Client {
    let asked = 0
    const credentials = () => {
      asked++
      return { email: EMAIL, password: PASSWORD }
    }
    const api = createTokenClient({ url: server.url, credentials, ...options } as TokenClientOptions)
    clients.push(api)
    shown.push(api)
    async function call(input: string | Request, init: RequestInit = {}) {
      const response = await api.fetch(input, { duplex: 'half', ...init } as RequestInit)
      return { status: response.status, body: await response.text() }
    }
    return { ...api, call, asked: () => asked }
  }

  try {
    await run({
      server,
      other,
      start,
      async signedIn() {
        const client = start()
        await client.call('/x')
        return client
      },
      pass(ms, { asleep = false } = {}) {
        moveClocks({ wall: ms, steady: asleep ? 0 : ms })
        for (const { state } of [server, other]) state.ahead += ms
      },
      async fails(call, code) {
        const error = await rejectionOf(call)
        shown.push(error)
        expect(error).toMatchObject({ code })
        return error
      },
    })
    const text = shown.map((value) => inspect(value, { depth: 9, showHidden: true })).join() + JSON.stringify(shown)
    for (const secret of [PASSWORD, ...server.tokens.keys()]) expect(text.includes(secret)).toBe(false)
  } finally {
    Object.assign(performance, { now: real.steady })
    Date.now = real.date
    for (const client of clients) client.close()
    await Promise.all([server.stop(), other.stop().catch(() => {})])
  }
}

export function must(fits: boolean, what: string): void {
  expect(fits, what).toBe(true)
}

/** Expects this number of token calls. */
export const mustSignIn = ({ seen }: FaultServer, expected: number) => expect(seen.token).toHaveLength(expected)

/** Expects at most this number of token calls. */
export const mustSignInAtMost = ({ seen }: FaultServer, most: number) =>
  expect(seen.token.length).toBeLessThanOrEqual(most)

/** Expects that a call got this status. */
export const mustGet = ({ status }: { status: number }, expected: number) => expect(status).toBe(expected)

/** Expects this number of requests at the API. */
export const mustCall = ({ seen }: FaultServer, expected: number) => expect(seen.api).toHaveLength(expected)

/** Holds all token calls until the returned function is called. */
export function holdSignIns(server: FaultServer): () => void {
  const { promise: opened, resolve: open } = deferred<void>()
  server.always.token = (res, seen) => opened.then(() => server.answerToken(res, seen))
  return open
}
