import { expect, it } from 'vitest'
import { firstState, nextState, type RefreshState } from '../../src/sessions/refresh/refresh-state.js'
import { random } from '../support/plain-js/random.mjs'

const PERIOD = 600_000

/** Returns after how many refreshes of the owner the session ends, or `most`. Each of the two refreshes once in every ten minutes. */
function unseenFor(grace: number, thiefAt: () => number, most: number): number {
  let state: RefreshState = firstState({ remember: true, passwordTag: '' })
  const tokens = { owner: 0, thief: 0 }
  function present(party: keyof typeof tokens, now: number): boolean {
    const next = nextState(state, tokens[party], { now, presentedAt: now, grace })
    if (!next) return false
    state = next
    tokens[party] = next.generation
    return true
  }
  for (let refreshes = 0; refreshes < most; refreshes++) {
    const start = refreshes * PERIOD
    if (!present('owner', start) || !present('thief', start + thiefAt())) return refreshes
  }
  return most
}

/**
 * Returns how often each party gets an access token before the session ends, or within 50 periods. Each refreshes once in every period and loses
 * responses.
 */
function granted(draw: () => number, lost: number, hasThief: boolean): Record<'owner' | 'thief', number> {
  let state: RefreshState = firstState({ remember: true, passwordTag: '' })
  const tokens = { owner: 0, thief: 0 }
  const counts = { owner: 0, thief: 0 }
  function present(party: keyof typeof tokens, now: number): boolean {
    const next = nextState(state, tokens[party], { now, presentedAt: now, grace: 10_000 })
    if (!next) return false
    state = next
    if (draw() < lost) return true
    tokens[party] = next.generation
    counts[party]++
    return true
  }
  for (let period = 0; period < 50; period++) {
    const start = period * PERIOD
    if (!present('owner', start) || (hasThief && !present('thief', start + draw() * PERIOD))) break
  }
  return counts
}

it('an honest client that loses responses stays signed in, and a thief gets hardly more', () => {
  const draw: () => number = random(23)
  const rounds = 10_000
  const all = (lost: number, hasThief: boolean) => Array.from({ length: rounds }, () => granted(draw, lost, hasThief))
  // All but the lost ones.
  const mean = all(0.1, false).reduce((sum, { owner }) => sum + owner, 0) / rounds
  expect(mean).toBeCloseTo(45, 0)
  const stolen = [0, 0.1].map((lost) => all(lost, true).reduce((sum, { thief }) => sum + thief, 0) / rounds)
  expect(Math.max(...stolen)).toBeLessThan(2)
  if (process.env['MODEL_ODDS'])
    process.stdout.write(
      `access tokens of an owner in 50 refreshes ${mean}; of a thief ${stolen.join(', with lost responses ')}\n`,
    )
})

// MODEL_ODDS=1 npm run test:only -- test/models/refresh-thief.model.test.ts
it.each([10_000, 40_000])('a thief stays unseen by chance in few exchanges, with a grace of %i ms', (grace) => {
  const draw: () => number = random(19)
  const rounds = 10_000
  const share = (most: number, thiefAt: () => () => number) => {
    let unseen = 0
    for (let i = 0; i < rounds; i++) if (unseenFor(grace, thiefAt(), most + 1) > most) unseen++
    return unseen / rounds
  }
  const chance = (2 * grace) / PERIOD
  const once = share(1, () => () => draw() * PERIOD)
  const always = share(144, () => {
    const phase = draw() * PERIOD
    return () => phase
  })
  expect(Math.abs(once - chance)).toBeLessThan(0.015)
  expect(share(2, () => () => draw() * PERIOD)).toBeCloseTo(chance ** 2, 1)
  // A thief who keeps a phase that happens to be near that of the owner is not noticed at all.
  expect(always).toBeCloseTo(chance, 1)
  if (process.env['MODEL_ODDS'])
    process.stdout.write(
      `grace ${grace} ms: unseen for one exchange ${once} (${chance}), for an hour ${chance ** 6}, for a day ${chance ** 144}; with a constant phase ${always} for each time\n`,
    )
})
