import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { JwtVerifierOptions } from 'express-token-endpoint'
import { expect, vi } from 'vitest'
import type { Sent } from '../../support/plain-js/http-client.mjs'
import { isMissing } from '../../support/services/missing.js'
import { tokenOf } from './tokens.js'

export type Verdict = 'admitted' | 'refused'

/** A guard or a login endpoint, as a function. It may keep state between requests. */
export type Guard = (request: Sent) => Verdict | Promise<Verdict>

/** Our guard or login endpoint, and the code and reason of each refusal. */
export interface Ours {
  guard: Guard
  refusals: string[]
}

/** A request, or the milliseconds that pass before the next request. */
export type Step = Sent | { wait: number }

/**
 * A published vulnerability: its attack, the faulty guard, and our guard. `npm run docs:tables` writes its row of README.md.
 */
export interface Exhibit {
  /** The URL of the advisory. */
  source: string
  /** The year of publication. */
  year: number
  /** The project, with the versions that have the fault. */
  versions: string
  /** The fault, as one or more sentences. */
  fault: string
  /** The vulnerable version in `packages/package.json` that the attack runs on. Otherwise `faulty` is a model of the fault. */
  installed?: string
  faulty?: (library: Library) => Guard
  /** The faulty guard as a function that verifies a token: it throws or returns `false` for an invalid one. */
  verifies?: (text: string, library: Library) => unknown
  /** Ours: a guard that may get other options of its verifier, or a login endpoint, whose function has no parameter. */
  ours: (verifier?: Partial<JwtVerifierOptions>) => Promise<Ours>
  /** The refusal by a guard for tokens of identity providers. Default: `refusal`. */
  refusalAsJwt?: string
  /** The `typ` that the faulty guard demands. Ours demands `at+jwt`. */
  typ?: string
  /** The requests of the attack. The verdict on the last one counts. */
  attack: (typ: string) => Step[]
  /** Valid requests. The faulty guard and ours admit the last one. */
  control: (typ: string) => Step[]
  /** Sends all requests of the attack at the same moment. They count as admitted when each of them is. */
  together?: true
  /** The code and the reason with which ours refuses the attack. Omitted when the route runs, but without an account. */
  refusal?: string
}

/** Exhibits by their CVE id, or the GHSA id of an advisory without a CVE id. */
export type Hall = Record<string, Exhibit>

/** Sends the attack of an exhibit, or its control, to any guard. Returns the verdict on the last request. */
export async function run(
  { attack, control, together }: Exhibit,
  guard: Guard,
  { part = 'attack', typ = 'at+jwt' }: { part?: 'attack' | 'control'; typ?: string | undefined } = {},
): Promise<Verdict> {
  const steps = part === 'attack' ? attack(typ) : control(typ)
  let verdict: Verdict = 'refused'
  if (together) {
    const verdicts = await Promise.all(steps.map((step) => ('wait' in step ? verdict : guard(step))))
    return verdicts.includes('refused') ? 'refused' : 'admitted'
  }
  for (const step of steps) {
    if ('wait' in step) vi.setSystemTime(Date.now() + step.wait)
    else verdict = await guard(step)
  }
  return verdict
}

/** Expects that the faulty guard of an exhibit admits the attack and a valid request. */
export async function expectAdmitted(exhibit: Exhibit): Promise<void> {
  const { faulty, verifies, installed, typ } = exhibit
  for (const part of ['attack', 'control'] as const) {
    const library = installed && load(installed)
    const guard = faulty?.(library) ?? guardOf((text) => verifies?.(text, library) ?? true)
    expect(await run(exhibit, guard, { part, typ })).toBe('admitted')
  }
}

const FOLDER = new URL('packages/', import.meta.url)

/** True when the vulnerable packages are not installed. */
export const NO_PACKAGES = isMissing(
  existsSync(new URL('node_modules/.package-lock.json', FOLDER)),
  'A vulnerable package of the museum',
  'npm ci --prefix test/attacks/museum/packages --ignore-scripts',
)

/** Loads a vulnerable version by its alias in `packages/package.json`. */
export const load = createRequire(new URL('package.json', FOLDER))
export type Library = ReturnType<typeof load>

/** Makes a guard of a function that verifies a token: it throws or returns `false` for an invalid one. */
export function guardOf(verify: (token: string) => unknown): Guard {
  return async (request) => {
    try {
      return (await verify(tokenOf(request))) === false ? 'refused' : 'admitted'
    } catch {
      return 'refused'
    }
  }
}

/** Returns the guard of a middleware of Hono in front of a route. */
export function honoGuard({ Hono }: Library, middleware: unknown): Guard {
  const app = new Hono().get('/', middleware, (c: { text(body: string): Response }) => c.text('in'))
  return async ({ headers }) => ((await app.request('/', { headers })).status === 200 ? 'admitted' : 'refused')
}
