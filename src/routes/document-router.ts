import type { Router } from 'express'
import { express } from '../packages/on-first-use.cjs'
import type { Answer } from '../refusals/responses.js'
import { methodNotAllowed, setHeaders } from '../refusals/send-response.js'

/** Creates a router that publishes a document to everyone, for `GET` and `HEAD`. */
export function documentRouter(path: string, answerOf: () => Answer): Router {
  const router = express().Router({ caseSensitive: true, strict: true })
  router.get(path, function publicDocument(_req, res) {
    const { headers, body } = answerOf()
    setHeaders(res, headers)
    // As bytes: Express adds a charset to text, which these media types do not have.
    res.send(Buffer.from(body))
  })
  router.all(path, methodNotAllowed('keys'))
  return router
}
