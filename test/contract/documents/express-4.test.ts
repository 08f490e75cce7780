import type { NextFunction, Request, RequestHandler, Response } from 'express'
import express4 from 'express4'
import { describe, expect, it } from 'vitest'
import { until } from '../../support/concurrency.js'
import { pagesBelow, readPage } from '../../support/documents/pages.js'
import { fatalErrors } from '../../support/failures.js'
import { send } from '../../support/host.js'
import { listen } from '../../support/http.js'

/** An `async` handler of Express, in a block of a page. Fastify has its hooks in the options before it. */
const HANDLER = /\.(get|post|put|patch|delete|all|use)\((?!.*onRequest).*\basync \(/
const WRAPPER = '(req, res, next) => handler(req, res).catch(next)'
/** The wrapper itself, or a link to the page that shows it. */
const SAID =
  /On Express 4, (wrap each `async` handler as `\(req, res, next\) => handler\(req, res\)\.catch\(next\)`|\[wrap [^\]]+\]\([^)]*#express-4\))/
/** The page whose example wraps its handlers. */
const WRAPPED = 'docs/guides/sign-in-steps.md'

const withHandlers = ['README.md', ...pagesBelow('docs'), ...pagesBelow('example-app')]
  .map(readPage)
  .filter(({ blocks }) => blocks.some(({ code }) => HANDLER.test(code)))

describe('a page with an async handler of Express', () => {
  it.each(withHandlers.map(({ path, text }) => [path, text]))('%s says how to wrap it on Express 4', (path, text) => {
    if (path === WRAPPED) expect(text).toMatch(/void handler\(req, res\)\.catch\(next\)/)
    else expect(text).toMatch(SAID)
  })

  it('is found', () => {
    expect(withHandlers.length).toBeGreaterThanOrEqual(8)
  })
})

type Handler = (req: Request, res: Response) => Promise<void>
const rejecting: Handler = async () => {
  throw new Error('down')
}

/** Sends a request to Express 4. Returns the status, and what would end the process. */
async function outcomeOf(handler: RequestHandler | Handler, responds: boolean) {
  const fatal = fatalErrors()
  const app = express4()
  app.get('/', handler as never)
  app.use((_error: unknown, _req: unknown, res: Response, _next: NextFunction) => void res.status(503).end())
  const { port, server } = await listen(app as never)
  const answer = send(port, { method: 'GET', path: '/' })
  if (responds) return { fatal, status: (await answer).status }
  await until(() => expect(fatal).not.toEqual([]))
  server.closeAllConnections()
  await answer.catch(() => {})
  return { fatal, status: undefined }
}

describe('a handler that rejects, on Express 4', () => {
  it('gets the response of the error handler in the wrapper of the pages, and the process goes on', async () => {
    const wrap = new Function('handler', `return ${WRAPPER}`) as (handler: Handler) => RequestHandler
    expect(await outcomeOf(wrap(rejecting), true)).toEqual({ fatal: [], status: 503 })
  })

  it('would end the process without the wrapper', async () => {
    expect((await outcomeOf(rejecting, false)).fatal).toEqual(['unhandledRejection: down'])
  })
})
