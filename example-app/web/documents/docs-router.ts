import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Router } from 'express'
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

/** Creates a router with an API's document at `/openapi.json`, and at `/docs` a page that shows the document and sends requests. */
export function docsRouter(document: OpenApiDocument): Router {
  const router = Router({ strict: true })
  router.get('/openapi.json', (_req, res) => {
    res.json(document)
  })
  for (const [path, file] of Object.entries(FILES)) {
    router.get(path, policy, (_req, res) => res.sendFile(file))
  }
  return router
}
