import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type RequestHandler, Router } from 'express'
import type { OpenApiDocument } from 'express-token-endpoint/openapi'
import { contentSecurityPolicy } from 'helmet'

const swaggerUi = createRequire(import.meta.url).resolve

/** The page's files are not compiled. This module runs from `dist`, and in tests from the sources. */
const PAGE = ['docs-page', '../../../web/documents/docs-page']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find(existsSync)

/** Maps the paths of the page and of everything it loads to files. */
const FILES: Readonly<Record<string, string>> = {
  '/docs': `${PAGE}/index.html`,
  '/docs/page.css': `${PAGE}/page.css`,
  '/docs/page.js': `${PAGE}/page.js`,
  '/docs/swagger-ui.css': swaggerUi('swagger-ui-dist/swagger-ui.css'),
  '/docs/swagger-ui.js': swaggerUi('swagger-ui-dist/swagger-ui-bundle.js'),
}

/** Allows files of this server only, and no inline code. Swagger UI has its icons in `data:` URLs. */
const policy = contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
})

/** The handlers of both APIs, so that one process compresses each file once. */
const HANDLERS = Object.entries(FILES).map(([path, file]) => [path, sendCompressed(file)] as const)

/** Creates a router with an API's document at `/openapi.json`, and at `/docs` a page that shows the document and sends requests. */
export function docsRouter(document: OpenApiDocument): Router {
  const router = Router()
  router.get('/openapi.json', (_req, res) => {
    res.json(document)
  })
  for (const [path, handler] of HANDLERS) router.get(path, policy, handler)
  return router
}

/**
 * Creates a handler that keeps a file in memory, compressed at its first request. Swagger UI has 1.7 MB, and slow readers of it would
 * otherwise keep busy the few threads that read files.
 */
function sendCompressed(file: string): RequestHandler {
  const load = async () => {
    const plain = await readFile(file)
    return { plain, zipped: await promisify(gzip)(plain) }
  }
  let loaded: ReturnType<typeof load> | undefined
  return async (req, res) => {
    loaded ??= load()
    const { plain, zipped } = await loaded.catch((error) => {
      loaded = undefined
      throw error
    })
    res.type(extname(file)).vary('Accept-Encoding').set('Cache-Control', 'no-cache')
    if (req.acceptsEncodings('gzip')) res.set('Content-Encoding', 'gzip').send(zipped)
    else res.send(plain)
  }
}
