import { type Child, describeEnd } from './child.js'
import type { Ready, Service } from './service.js'

export interface PoolParts {
  size: number
  /** Starts one more process. */
  start: () => Child
  log: (line: string) => void
  /** Resolves after so many milliseconds. */
  pause: (ms: number) => Promise<unknown>
}

/** How long a dead process's place stays empty: twice as long each time that nobody could take it. */
const PAUSE_MS = { first: 1000, longest: 30_000 }

/**
 * Several processes behind one address. One that dies is replaced.
 * @returns undefined when one of the first did not start; it has said why
 */
export async function startPool({ size, start, log, pause }: PoolParts): Promise<Service | undefined> {
  /** All that live, and those of them that are to go on. */
  const alive = new Set<Child>()
  const seated = new Set<Child>()
  let stopping = false
  let reportingUrl: string | undefined

  function begin(): Child {
    const child = start()
    alive.add(child)
    if (reportingUrl !== undefined) child.introduce(reportingUrl)
    void child.ended.then(() => {
      alive.delete(child)
      seated.delete(child)
    })
    return child
  }

  async function seat(): Promise<Ready | undefined> {
    const child = begin()
    seated.add(child)
    const ready = await child.ready
    if (ready) void replaceWhenDead(child)
    return ready
  }

  async function replaceWhenDead(child: Child): Promise<void> {
    const end = await child.ended
    if (stopping || retired.has(child)) return
    log(`A process has ended unexpectedly (${describeEnd(end)}): another takes its place.`)
    for (let wait = PAUSE_MS.first; ; wait = Math.min(2 * wait, PAUSE_MS.longest)) {
      await pause(wait)
      // Meanwhile a restart may have filled the place.
      if (stopping || seated.size >= size || (await seat())) return
    }
  }

  const retired = new WeakSet<Child>()
  async function retire(child: Child): Promise<void> {
    retired.add(child)
    seated.delete(child)
    child.tell('retire')
    await child.ended
  }

  async function replaceAll(): Promise<boolean> {
    for (const old of [...seated]) {
      if (stopping) return false
      const fresh = begin()
      if (!(await fresh.ready)) {
        if (!stopping) log('The new process did not start: the old ones go on.')
        return false
      }
      seated.add(fresh)
      void replaceWhenDead(fresh)
      if (seated.has(old)) await retire(old)
      // The old one died by itself, and another has its place already.
      else if (seated.size > size) await retire(fresh)
    }
    return true
  }

  async function stop(): Promise<void> {
    stopping = true
    await Promise.all(
      [...alive].map((child) => {
        child.tell('stop')
        return child.ended
      }),
    )
  }

  /** The restart that goes on, and one more that is asked for meanwhile: what it is for may have come too late for the first. */
  let current: Promise<boolean> | undefined
  let next: Promise<boolean> | undefined
  function restart(): Promise<boolean> {
    if (next) return next
    if (!current) {
      current = replaceAll().finally(() => {
        current = undefined
      })
      return current
    }
    next = current.then(() => {
      next = undefined
      return restart()
    })
    return next
  }

  function introduce(url: string): void {
    reportingUrl = url
    for (const child of alive) child.introduce(url)
  }

  // The first alone: a mistake in the settings is told once.
  const ready = await seat()
  if (!ready) return undefined
  const others = await Promise.all(Array.from({ length: size - 1 }, seat))
  if (others.includes(undefined)) {
    await stop()
    return undefined
  }
  return { ready, stop, restart, introduce }
}
