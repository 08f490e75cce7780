import type { Limiter, LimiterOptions } from 'express-token-endpoint'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, vi } from 'vitest'

/** Stops the clocks and the timers for each test of a file or a block. */
export function freezeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
  })
  afterEach(() => void vi.useRealTimers())
}

/** Creates a shared store for several processes, which can fail, hang, and count its calls. */
export function sharedStore() {
  const limiters = new Map<string, RateLimiterMemory>()
  const store = {
    made: [] as LimiterOptions[],
    calls: [] as string[],
    mode: 'up' as 'up' | 'down' | 'hangs' | 'breaks' | 'no deletes',
    async countOf(name: string): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      for (const call of store.calls) {
        const [, own = ''] = call.split(` login-${name}:`)
        const found = own && (await limiters.get(`login-${name}`)?.get(own))
        if (found) counts[own.includes(':') ? 'under way' : 'failures'] = found.consumedPoints
      }
      return counts
    },
    limiter(options: LimiterOptions): Required<Limiter> {
      store.made.push(options)
      const one = limiters.get(options.keyPrefix) ?? new RateLimiterMemory(options)
      limiters.set(options.keyPrefix, one)
      const call = async (name: string, key: string, run: () => Promise<unknown>): Promise<unknown> => {
        store.calls.push(`${name} ${options.keyPrefix}:${key}`)
        if (store.mode === 'down' || (store.mode === 'no deletes' && name === 'delete'))
          throw new Error('connection refused')
        if (store.mode === 'hangs') await new Promise(() => {})
        const result = await run()
        if (store.mode === 'breaks') throw new Error('connection lost')
        return result
      }
      return {
        consume: (key) => call('consume', key, () => one.consume(key)),
        penalty: (key, points, duration) => call('penalty', key, () => one.penalty(key, points, duration)),
        reward: (key) => call('reward', key, () => one.reward(key)),
        get: (key) => call('get', key, () => one.get(key)),
        delete: (key) => call('delete', key, () => one.delete(key)),
      }
    },
  }
  return store
}
