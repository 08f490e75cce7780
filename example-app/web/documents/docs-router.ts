import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Router } from 'express'
import type { OpenApiDocument } from 'express-token-endpoint/openapi'
import { contentSecurityPolicy } from 'helmet'

const swaggerUi = createRequire(import.meta.url).resolve

/** The files of the page are not compiled. This file runs from the sources in tests, otherwise from `dist`. */
const PAGE = ['docs-page', '../../../web/documents/docs-page']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find(existsSync)

/** The page and the files that it loads. */
const FILES: Readonly<Record<string, string>> = {
  '/docs': `${PAGE}/index.html`,
  '/docs/page.css': `${PAGE}/page.css`,
  '/docs/page.js': `${PAGE}/page.js`,
  '/docs/swagger-ui.css': swaggerUi('swagger-ui-dist/swagger-ui.css'),
  '/docs/swagger-ui.js': swaggerUi('swagger-ui-dist/swagger-ui-bundle.js'),
}

/** Allows only files of this origin, and nothing inline. Swagger UI has its icons in `data:` URLs. */
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

/** Creates a router with an API's document at `/openapi.json`, and a page to read and try the API at `/docs`. */
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
