import { Router } from 'express'

/** Functions that resolve while a database works, by the name that `/readyz` shows. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>

const DEADLINE_MS = 1000

/**
 * Creates a router with `/healthz`, which returns 200 while the process runs, and `/readyz`, which returns 503 while a check fails.
 * A supervisor restarts the process by the first, a load balancer skips the process by the second.
 */
export function healthRouter(checks: Checks): Router {
  const router = Router()
  // Anyone may call `/readyz`, so concurrent requests share one run of the checks.
  let running: Promise<Record<string, State>> | undefined
  const runOnce = () => {
    running ??= runAll(checks).finally(() => {
      running = undefined
    })
    return running
  }

  router.get('/healthz', (_req, res) => {
    res.set('Cache-Control', 'no-store').json({ status: 'ok' })
  })
  router.get('/readyz', async (_req, res) => {
    const states = await runOnce()
    const ready = Object.values(states).every((state) => state === 'ok')
    res
      .status(ready ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: ready ? 'ok' : 'unavailable', checks: states })
  })
  return router
}

type State = 'ok' | 'unavailable'

async function runAll(checks: Checks): Promise<Record<string, State>> {
  const states = Object.entries(checks).map(async ([name, check]) => [name, await stateOf(check)] as const)
  return Object.fromEntries(await Promise.all(states))
}

async function stateOf(check: () => Promise<unknown>): Promise<State> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<State>((resolve) => {
    timer = setTimeout(resolve, DEADLINE_MS, 'unavailable')
  })
  try {
    return await Promise.race([check().then<State>(() => 'ok'), late])
  } catch {
    return 'unavailable'
  } finally {
    clearTimeout(timer)
  }
}
