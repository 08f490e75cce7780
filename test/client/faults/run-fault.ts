import { inspect } from 'node:util'
import { type Contestant, type ContestantOptions, type Fault, type Maker, must } from './fault.js'
import { EMAIL, PASSWORD, startFaultServer } from './server.js'

const real = { date: Date.now.bind(Date), steady: performance.now.bind(performance) }

/** Moves the client's clocks. The clocks of the servers and the timers stay as they are. */
export function moveClocks({ wall = 0, steady = 0 }: { wall?: number; steady?: number }): void {
  const [date, now] = [Date.now, performance.now]
  Date.now = () => date.call(Date) + wall
  performance.now = () => now.call(performance) + steady
}

export function restoreClocks(): void {
  Date.now = real.date
  performance.now = real.steady
}

/**
 * Runs one fault against one client. No object and no error of our client may show a secret at any fault.
 * @throws Failed with what the client did wrong
 */
export async function runFault({ tags, run }: Fault, { make, hasCodes }: Maker): Promise<void> {
  const [server, other] = await Promise.all([startFaultServer(), startFaultServer()])
  const shown: unknown[] = []
  const clients: Contestant[] = []

  function start(options: Partial<ContestantOptions> = {}): Contestant {
    const credentials = () => ({ email: EMAIL, password: PASSWORD })
    const client = make({ url: server.url, credentials, ...options })
    clients.push(client)
    shown.push(client.shown)
    return client
  }

  function mustHide(): void {
    const text = shown.map((value) => inspect(value, { depth: 9, showHidden: true })).join()
    const json = JSON.stringify(shown.filter((value) => typeof value !== 'function')) ?? ''
    for (const secret of [PASSWORD, ...server.tokens.keys()]) {
      must(!(text + json).includes(secret), `shows the ${secret === PASSWORD ? 'password' : 'token'}`)
    }
  }

  try {
    await run({
      server,
      other,
      mustHide,
      start,
      async signedIn() {
        const client = start()
        await client.call('/x')
        return client
      },
      pass(ms, { asleep = false } = {}) {
        if (tags.includes('waits')) throw new Error('moves clocks beside another fault')
        moveClocks({ wall: ms, steady: asleep ? 0 : ms })
        for (const { state } of [server, other]) state.ahead += ms
      },
      async fails(call, code) {
        const error = await call.then(
          () => undefined,
          (failure: unknown) => failure,
        )
        must(error !== undefined, `reports no failure, but should report "${code}"`)
        shown.push(error)
        const actual = (error as { code?: unknown }).code
        must(!hasCodes || actual === code, `reports "${actual}", not "${code}": ${error}`)
        return error
      },
    })
    if (hasCodes) mustHide()
  } finally {
    restoreClocks()
    for (const client of clients) client.close?.()
    await Promise.all([server.stop(), other.stop().catch(() => {})])
  }
}
