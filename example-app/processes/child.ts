import type { ChildProcess } from 'node:child_process'
import type { Order, Report } from './messages.js'
import type { Ready } from './service.js'

/** A process that was started by this one, and obeys it. */
export interface Child {
  /** Once it serves; undefined when it has ended before. */
  readonly ready: Promise<Ready | undefined>
  /** How it has ended. */
  readonly ended: Promise<End>
  tell(order: 'stop' | 'retire'): void
  /** Tells it once it serves: until then it does not listen. */
  introduce(reportingUrl: string): void
  /** Whether it went well, when it is over. */
  restart(): Promise<boolean>
  kill(): void
}

export interface End {
  code: number | null
  signal: NodeJS.Signals | null
}

export function watch(child: ChildProcess): Child {
  const ended = new Promise<End>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    // It could not even be started.
    child.once('error', () => child.pid === undefined && resolve({ code: 1, signal: null }))
  })
  const reported = <T>(read: (report: Report) => T | undefined) =>
    new Promise<T | undefined>((resolve) => {
      const onMessage = (report: Report) => {
        const found = read(report)
        if (found === undefined) return
        child.off('message', onMessage)
        resolve(found)
      }
      child.on('message', onMessage)
      void ended.then(() => resolve(undefined))
    })
  let isReady = false
  const ready = reported((report) => ('ready' in report ? report.ready : undefined))
  void ready.then((found) => {
    isReady = found !== undefined
  })
  const send = (order: Order) => {
    // It may be gone, and nobody has heard of it yet.
    if (child.connected) child.send(order, () => {})
  }
  return {
    ready,
    ended,
    tell(order) {
      // One that does not serve yet has nothing to finish.
      if (isReady) send(order)
      else child.kill('SIGTERM')
    },
    introduce: (reportingUrl) => void ready.then(() => send({ introduce: reportingUrl })),
    async restart() {
      const done = reported((report) => ('restarted' in report ? report.restarted : undefined))
      send('restart')
      return (await done) === true
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

export function describeEnd({ code, signal }: End): string {
  return signal ?? `exit code ${code}`
}
