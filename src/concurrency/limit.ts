import { AuthError } from '../errors/auth-error.js'

/** The most items that may be in progress at the same time. */
interface LimitSizes {
  readonly total: number
  /** The most items of one client network. It may have at most as many as are still free. Default: only `total`. */
  readonly perNetwork?: number
}

/** Ends an item. A second call does nothing. */
export type End = () => void

/** Creates a limit. Returns the function that begins an item, or returns undefined when there is no room. */
export function createLimit({ total, perNetwork }: LimitSizes) {
  const networks = new Map<unknown, number>()
  let active = 0

  return function begin(network?: unknown): End | undefined {
    const own = networks.get(network) ?? 0
    if (own >= Math.min(perNetwork ?? total, total - active)) return undefined
    active++
    if (perNetwork !== undefined) networks.set(network, own + 1)
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      active--
      const others = (networks.get(network) ?? 0) - 1
      if (others > 0) networks.set(network, others)
      else networks.delete(network)
    }
  }
}

/**
 * Returns a function that runs tasks within limits. A task counts until it has settled.
 * @param refusal creates the error of a task for which there is no room
 */
export function limitTasks(limits: LimitSizes, refusal: () => Error = () => new AuthError('overloaded')) {
  const begin = createLimit(limits)
  return async function runWithinLimits<T>(network: unknown, task: () => PromiseLike<T> | T): Promise<T> {
    const end = begin(network)
    if (!end) throw refusal()
    try {
      return await task()
    } finally {
      end()
    }
  }
}
