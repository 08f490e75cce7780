import { complain } from '../output.js'
import type { Ready, Service } from './service.js'

/** What a process is told by the one that started it, over the channel between the two. */
export type Order = 'stop' | 'retire' | 'restart' | { introduce: string }

/** What it answers: once that it listens, and after a restart that it is over. */
export type Report = { ready: Ready } | { restarted: boolean }

/** More than the ten seconds after which the parent, if there still is one, ends it. */
const PATIENCE_MS = 11_000

/** What belongs to a process that another one started: it does what that says, and ends with it. */
export function obeyOrders({ ready, stop, retire, restart, introduce }: Service): void {
  let ending = false
  const end = (how: () => Promise<void>) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(1), PATIENCE_MS)
    how().then(
      () => process.exit(0),
      (error: unknown) => {
        complain(String(error))
        process.exit(1)
      },
    )
  }
  const orders: Record<Extract<Order, string>, () => unknown> = {
    stop: () => end(stop),
    retire: () => end(retire ?? stop),
    restart: () => restart?.().then((restarted) => report({ restarted })),
  }
  process.on('message', (order: Order) => {
    if (typeof order === 'string') orders[order]()
    else introduce?.(order.introduce)
  })
  process.on('disconnect', orders.stop)
  process.on('SIGTERM', orders.stop)
  if (process.connected) report({ ready })
  else orders.stop()
}

/** A terminal sends these to all of its processes: the first one passes on what they mean. */
export function ignoreTerminal(): void {
  for (const signal of ['SIGINT', 'SIGUSR2'] as const) process.on(signal, () => {})
}

function report(report: Report): void {
  process.send?.(report)
}
