import { AuthError } from '../errors/auth-error.js'
import { bare } from '../options/values.js'
import { createFairQueue, type QueueLimits } from './fair-queue.js'

/**
 * The options for one queue slot.
 * @inline
 */
export interface SlotRequest {
  /** The client's network: an IPv4 address, an IPv6 /64, or `'unknown'`. Default: `'unknown'`. */
  network?: string | undefined
  /** Aborted when the client has disconnected, which ends the wait. */
  signal?: AbortSignal | undefined
  /** The time limit for the wait, in milliseconds. Default: none. */
  timeout?: number | undefined
  /** Called when a slot is free. With false, the item waits until another one has left. An error ends the wait. Default: it gets the slot. */
  admit?: (() => boolean) | undefined
}

/** Frees a slot. A second call does nothing. */
export type Leave = () => void

interface Waiting {
  /** Takes a free slot, if it may. */
  enter(): boolean
  refuse(): void
}

/** Creates a queue in front of a number of slots. Client networks enter in turn. */
export function createQueue(slots: number, limits: QueueLimits) {
  const queue = createFairQueue<Waiting>(limits, (item) => item.refuse())
  let active = 0

  /** Lets waiting items enter that may enter by now. */
  function serve(): void {
    while (active < slots && queue.take((item) => item.enter()));
    // Nothing would serve them any more.
    while (active === 0) {
      const next = queue.take()
      if (!next) break
      next.refuse()
    }
  }

  function takeSlot(): Leave {
    active++
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      active--
      serve()
    }
  }

  function wait({ network, signal, timeout, admit }: SlotRequest): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        if (slot) queue.remove(slot)
        clearTimeout(timer)
        signal?.removeEventListener('abort', disconnect)
        end()
      }
      const fail = (error: unknown) => settle(() => reject(error))
      const refuse = () => fail(new AuthError('overloaded'))
      const disconnect = () => fail(new AuthError('client_closed_request'))
      const enter = () => {
        try {
          if (admit?.() === false) return false
        } catch (error) {
          fail(error)
          return false
        }
        settle(() => resolve(takeSlot()))
        return true
      }
      const timer = timeout === undefined ? undefined : setTimeout(refuse, timeout)
      signal?.addEventListener('abort', disconnect)
      const slot = queue.add(network, { enter, refuse })
      // Without others, nothing would serve this item when there is room for it.
      if (!slot || active === 0) refuse()
    })
  }

  return {
    /**
     * Takes a slot, or waits for one. Returns the function that frees it.
     * @throws AuthError `overloaded` when the queue is full or the wait is too long, `client_closed_request`; an error of `admit`
     */
    async enter(given: SlotRequest = {}): Promise<Leave> {
      const { network = 'unknown', signal, timeout, admit } = bare(given)
      if (signal?.aborted) throw new AuthError('client_closed_request')
      // An earlier step may have used up the time, even if there is room.
      if (timeout !== undefined && timeout <= 0) throw new AuthError('overloaded')
      return active < slots && admit?.() !== false ? takeSlot() : wait({ network, signal, timeout, admit })
    },
    serve,
    get active() {
      return active
    },
    get waiting() {
      return queue.size
    },
  }
}
