import type { Router } from 'express'
import type { HttpResponse } from '../http/responses.js'
import { methodNotAllowed, setHeaders } from '../http/send-response.js'
import { express } from '../packages/on-first-use.cjs'

/** Creates a router that publishes a document to everyone, for `GET` and `HEAD`. */
export function documentRouter(path: string, responseOf: () => HttpResponse): Router {
  const router = express().Router({ caseSensitive: true, strict: true })
  router.get(path, function publicDocument(_req, res) {
    const { headers, body } = responseOf()
    setHeaders(res, headers)
    // As bytes: Express adds a charset to text, which these media types do not have.
    res.send(Buffer.from(body))
  })
  router.all(path, methodNotAllowed('keys'))
  return router
}
