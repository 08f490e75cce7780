import { expect, vi } from 'vitest'
import type { Sent } from '../../support/plain-js/http-client.mjs'

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
 * A published vulnerability: its attack, the faulty guard, and our guard. `docs/evidence/published-attacks.md` has its project, its year
 * and its source.
 */
export interface Exhibit {
  /** The CVE id, or the GHSA id of an advisory without a CVE id. */
  id: string
  fault: string
  /** The vulnerable version in `packages/package.json` that the attack runs on. Otherwise `faulty` is a model of the fault. */
  installed?: string
  faulty: () => Guard
  ours: () => Promise<Ours>
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
  const { faulty, typ } = exhibit
  expect(await run(exhibit, faulty(), { typ })).toBe('admitted')
  expect(await run(exhibit, faulty(), { part: 'control', typ })).toBe('admitted')
}
