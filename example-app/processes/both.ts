import { Failure } from '../failure.js'
import { type Child, describeEnd } from './child.js'
import { type Service, type ServiceName, TITLES } from './service.js'

export interface Pair {
  /** Starts a service in a process of its own. */
  start: (name: ServiceName, env: Record<string, string>) => Child
  reportingPort: number
  log: (line: string) => void
}

/**
 * Both APIs, each in a process of its own. Neither goes on without the other.
 * @returns undefined when one of them did not start; it has said why
 */
export async function startBoth({
  start,
  reportingPort,
  log,
}: Pair): Promise<(Service & { reporting: string }) | undefined> {
  const children = new Map<ServiceName, Child>()
  let stopping = false
  let fail = () => {}
  const failed = new Promise<void>((resolve) => {
    fail = resolve
  })

  const begin = (name: ServiceName, env: Record<string, string> = {}) => {
    const child = start(name, env)
    children.set(name, child)
    void Promise.all([child.ready, child.ended]).then(([ready, end]) => {
      children.delete(name)
      if (stopping) return
      if (ready) log(`The ${TITLES[name]} has ended unexpectedly (${describeEnd(end)}).`)
      fail()
    })
    return child.ready
  }

  const stop = async () => {
    stopping = true
    const ends = [...children.values()].map((child) => {
      child.tell('stop')
      return child.ended
    })
    const bad = (await Promise.all(ends)).find(({ code, signal }) => code !== 0 && signal !== 'SIGTERM')
    if (bad) throw new Failure(`It did not end well (${describeEnd(bad)}).`)
  }

  const first = await begin('clearing-house')
  if (!first) return undefined
  // Only now is it known where the issuer is, and is there a database to read.
  const env = { PORT: new URL(first.url).port, REPORTING_PORT: String(reportingPort) }
  const second = await begin('reporting', env)
  if (!second || children.size < 2) {
    // What went wrong has been said.
    await stop().catch(() => {})
    return undefined
  }
  children.get('clearing-house')?.introduce(second.url)
  return {
    ready: first,
    reporting: second.url,
    stop,
    async restart() {
      // In this order: a new reporting process learns the keys of new issuers.
      for (const child of [...children.values()]) {
        if (!(await child.restart())) return false
      }
      return true
    },
    failed,
  }
}
