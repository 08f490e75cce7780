import {
  type AuthError,
  type GuardedRequest,
  requireBearer,
  type TokenIssuer,
  type TokenVerifier,
} from 'express-token-endpoint'
import { expect } from 'vitest'
import { tally } from '../concurrency.js'
import { frozenClock, issueNow, makeIssuer, signingKey } from '../fixtures.js'
import { random } from '../plain-js/random.mjs'

const LIFETIME = 3_600_000

export const OLD = 'https://old.example.com'
export const NEW = 'https://new.example.com'

interface Keys {
  old?: object
  new?: object
}

export const CHANGES: [string, Keys][] = [
  ['the issuer, with the same key', {}],
  ['the issuer, from HS256 to ES256', { new: { keys: signingKey('ES256') } }],
  ['the issuer, from RS256 to Ed25519', { old: { keys: signingKey('RS256') }, new: { keys: signingKey('Ed25519') } }],
]

/** The steps of a change, each for one process after the other. */
export type Plan = readonly ('accept both' | 'issue new' | 'wait' | 'accept new')[]

/** The plan of the guide: no token is refused. */
export const PLAN: Plan = ['accept both', 'issue new', 'wait', 'accept new']

/**
 * Changes the issuer of an app with three processes while clients send requests with all tokens that have not expired.
 * @returns the number of requests for each outcome
 */
export async function changeIssuer(requests: number, keys: Keys = {}, plan = PLAN): Promise<Record<string, number>> {
  const clock = frozenClock()
  const issuerOf = (issuer: string, options: object = {}) =>
    makeIssuer({ issuer, audience: 'reports', clock, ...options })
  const [before, after] = [issuerOf(OLD, keys.old), issuerOf(NEW, keys.new)]
  const next: () => number = random(1)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T
  const make = (accepts: readonly TokenVerifier[], issues: TokenIssuer) => {
    const guard = requireBearer({ tokens: accepts, onEvent: () => {} })
    return { accepts, issues, guard }
  }
  /** The processes of an app: what they accept, and what they issue. */
  const processes = [0, 1, 2].map(() => make([before], before))
  const outcomes: string[] = []
  let live: { text: string; end: number }[] = []

  async function ask(): Promise<void> {
    const { issues } = pick(processes)
    live = live.filter(({ end }) => end > clock()).slice(-400)
    if (live.length < 200 || next() < 0.05) {
      const { token, expiresAt } = issueNow(issues, { accountId: `acc-${below(50)}` })
      live.push({ text: token, end: expiresAt.getTime() })
    }
    const authorization = `Bearer ${pick(live).text}`
    const req = { headers: { authorization }, rawHeaders: ['Authorization', authorization], url: '/' }
    const { guard } = pick(processes)
    const outcome = guard.authenticate(req as unknown as GuardedRequest).then(({ issuer }) => issuer)
    outcomes.push(await outcome.catch(({ reason }: AuthError) => String(reason)))
  }

  async function load(count: number): Promise<void> {
    for (let i = 0; i < count; i += 50) await Promise.all(Array.from({ length: Math.min(50, count - i) }, ask))
  }

  const steps = plan.flatMap((step) => (step === 'wait' ? [0] : [0, 1, 2]).map((i) => ({ step, i })))
  const share = requests / (steps.length + 1)
  await load(Math.ceil(share))
  for (const { step, i } of steps) {
    clock.advance(1000)
    const { accepts, issues } = processes[i] as ReturnType<typeof make>
    if (step === 'accept both') processes[i] = make([before, after], issues)
    if (step === 'issue new') processes[i] = make(accepts, after)
    if (step === 'wait') clock.advance(LIFETIME)
    if (step === 'accept new') processes[i] = make([after], issues)
    await load(Math.ceil(share))
  }
  expect(outcomes.length).toBeGreaterThanOrEqual(requests)
  return tally(outcomes)
}
