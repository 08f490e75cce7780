import { isAuthError } from '../../../src/errors/auth-error.js'
import { refreshTokenOfBefore } from '../../support/earlier-release.js'
import { type Law, trace } from './law.js'
import { CLIENT_TIMEOUT, FIRST_SECRET, ISSUER, type Request, type Server, type Servers, TIMEOUT } from './servers.js'
import type { Choices, Time } from './time.js'

const MOST_DELAY = 4000

/** A browser with tabs that share a cookie, or an app that saves its refresh token. */
export interface Device {
  readonly name: string
  readonly kind: 'cookie' | 'body'
  readonly accountId: string
  sessionId: string
  /** The cookie, or the saved refresh token. */
  token: string | undefined
  /** True while an app waits for a response. */
  isBusy: boolean
}

/** Returns a refresh token of the earlier release, which wrote the terms of the sign-in into each refresh token. */
export const earlierToken = (sessionId: string, generation: number, terms: string | undefined) =>
  refreshTokenOfBefore(FIRST_SECRET, { sessionId, generation, terms }, ISSUER)

/** Returns the text that a device sends. Once a session has its terms, those of a refresh token must not count. */
function textOf(law: Law, { token, sessionId }: Device): string | undefined {
  const [, generation, terms, mac] = token?.split('.') ?? []
  const hasMoved = mac !== undefined && law.of(sessionId).storedTerms !== undefined
  return hasMoved ? earlierToken(sessionId, Number(generation), `other-${terms}`) : token
}

/** The share of 1,000 messages that are lost, late or doubled. */
export interface Network {
  readonly lost: number
  readonly late: number
  readonly doubled: number
}

/** Serves one refresh. Returns the new refresh token, or the status of the refusal. */
export async function serve(
  { servers, law, time }: { servers: Servers; law: Law; time: Time<Request> },
  server: Server,
  text: string,
  from: string,
  isWanted: () => boolean,
): Promise<{ token: string } | 403 | 503> {
  const presented = server.refreshSteps.read(text, [ISSUER])
  law.must(presented !== undefined, 'each process accepts the refresh tokens of the others')
  if (!presented) return 403
  const request: Request = { kind: 'refresh', presented, arrivedAt: time.now(), from }
  law.arrived(request)
  const [failures, delayed] = [servers.failures(), servers.delayed()]
  try {
    const { session, issued } = await servers.run(server, request, () => servers.refresh(server, request, isWanted))
    law.granted(request, issued, session.state.generation)
    trace(time, 'granted', request, session)
    const { id: sessionId, state } = session
    law.must(sessionId === presented.sessionId, 'a refresh token opens only its own session')
    return { token: server.refreshSteps.write({ sessionId, generation: state.generation }, ISSUER) }
  } catch (error) {
    if (!isAuthError(error)) throw error
    trace(time, 'refused', error.code, error.reason, request)
    if (error.code === 'invalid_refresh_token') {
      law.refused(request)
      return 403
    }
    law.failed(request, error.dependency)
    // A step that loses races against other changes has one time limit for several calls.
    const isSlow = error.code === 'unavailable' && servers.delayed() - delayed >= TIMEOUT
    const isFailure = isSlow || servers.failures() > failures || error.code === 'client_closed_request'
    law.must(
      isFailure,
      `a store that works does not cause ${error.code}: ${(error as { cause?: Error }).cause?.message}`,
    )
    return 503
  } finally {
    law.ended(request)
  }
}

export interface Sim {
  readonly time: Time<Request>
  readonly choices: Choices
  readonly servers: Servers
  readonly law: Law
  readonly network: Network
}

/** Sends one refresh of a device, and repeats it after a failure. With `burst`, it refreshes so often in turn. */
export function send(sim: Sim, device: Device, { retries = 0, burst = 0 } = {}): void {
  const { time, choices, servers, law, network } = sim
  const text = textOf(law, device)
  if (text === undefined || (device.kind === 'body' && device.isBusy)) return
  device.isBusy = true
  const delay = () => 1 + (burst === 0 && choices.isOneOf(network.late) ? choices.below(MOST_DELAY) : choices.below(40))
  let isOver = false
  const hangsUp = choices.isOneOf(500)

  function finish(outcome: { token: string } | 403 | 503 | undefined): void {
    trace(time, device.name, 'gets', outcome ?? 'nothing')
    isOver = true
    device.isBusy = false
    if (outcome === 403) {
      if (device.token?.startsWith(`${device.sessionId}.`)) device.token = undefined
    } else if (typeof outcome === 'object') {
      device.token = outcome.token
      law.received(device.sessionId, Number(outcome.token.split('.')[1]))
      if (burst > 1) send(sim, device, { burst: burst - 1 })
    } else if (retries > 0) {
      time.after(choices.pick([10, 1000, 8000, 30_000, 120_000]), () => send(sim, device, { retries: retries - 1 }))
    }
  }

  for (let copies = choices.isOneOf(network.doubled) ? 2 : 1; copies > 0; copies--) {
    if (choices.isOneOf(network.lost)) continue
    time.after(delay(), async () => {
      const outcome = await serve(sim, servers.anyServer(), text, device.name, () => !(isOver && hangsUp))
      if (choices.isOneOf(network.lost)) return
      time.after(delay(), () => {
        if (!isOver) finish(outcome)
      })
    })
  }
  time.after(CLIENT_TIMEOUT, () => {
    if (!isOver) finish(undefined)
  })
}
