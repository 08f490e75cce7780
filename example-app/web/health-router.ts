import { Router } from 'express'

/** The parts that this process cannot work without, each with a question that only a working one answers. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>

const DEADLINE_MS = 1000

/**
 * `/healthz`: this process lives; to be started anew if it does not answer. `/readyz`: so do the parts behind it; to be left
 * out by a load balancer while they do not.
 */
export function healthRouter(checks: Checks): Router {
  const router = Router()
  // Anyone may ask: however many do at once, each part is asked once.
  let asking: Promise<Record<string, State>> | undefined
  const states = () => {
    asking ??= askAll(checks).finally(() => {
      asking = undefined
    })
    return asking
  }

  router.get('/healthz', (_req, res) => {
    res.set('Cache-Control', 'no-store').json({ status: 'ok' })
  })
  router.get('/readyz', async (_req, res) => {
    const parts = await states()
    const ready = Object.values(parts).every((state) => state === 'ok')
    res
      .status(ready ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: ready ? 'ok' : 'unavailable', parts })
  })
  return router
}

type State = 'ok' | 'unavailable'

async function askAll(checks: Checks): Promise<Record<string, State>> {
  const states = Object.entries(checks).map(async ([part, check]) => [part, await stateOf(check)] as const)
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
