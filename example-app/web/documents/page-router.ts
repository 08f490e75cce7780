import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { Router } from 'express'
import { pagePolicy } from '../security-headers.js'

export interface PageParts {
  /** Returns the URL of the online reporting API for browsers. Undefined: the URL is not known. */
  reportingUrl: () => string | undefined
  /** The folder of the example app. Default: the folder whose `dist` contains this file. */
  folder?: string
}

const FOLDER = fileURLToPath(new URL('../../..', import.meta.url))

/** Creates a router with the browser page for both APIs. */
export function pageRouter({ reportingUrl, folder = FOLDER }: PageParts): Router {
  const html = readFileSync(join(folder, 'page', 'index.html'), 'utf8')
  const router = Router()
  const policy = pagePolicy(() => {
    const url = reportingUrl()
    return url === undefined ? undefined : new URL(url).origin
  })

  router.get('/', policy, (_req, res) => {
    // The response has both the URL and the policy that allows it, so the two cannot disagree.
    const page = html.replace('{{reporting-url}}', () => escaped(reportingUrl() ?? ''))
    res.set('Cache-Control', 'no-store').type('html').send(page)
  })
  for (const files of [join(folder, 'page', 'public'), join(folder, 'dist', 'page')]) {
    router.use('/page', express.static(files, { index: false, redirect: false }))
  }
  return router
}

/** Escapes text for an attribute in double quotes. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}
