import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { Router } from 'express'
import { pagePolicy } from '../security-headers.js'

export interface PageParts {
  /** Where browsers find the online reporting API. Undefined: there is none, as far as is known. */
  reportingUrl: () => string | undefined
  /** The folder of the example app. Default: the one that this file, in its `dist`, belongs to. */
  folder?: string
}

const FOLDER = fileURLToPath(new URL('../../..', import.meta.url))

/** A browser's page for both APIs. */
export function pageRouter({ reportingUrl, folder = FOLDER }: PageParts): Router {
  const html = readFileSync(join(folder, 'page', 'index.html'), 'utf8')
  const router = Router()
  const policy = pagePolicy(() => {
    const url = reportingUrl()
    return url === undefined ? undefined : new URL(url).origin
  })

  router.get('/', policy, (_req, res) => {
    // In the same answer as the policy, so that the page calls what it may call.
    const page = html.replace('{{reporting-url}}', () => escaped(reportingUrl() ?? ''))
    res.set('Cache-Control', 'no-store').type('html').send(page)
  })
  for (const files of [join(folder, 'page', 'public'), join(folder, 'dist', 'page')]) {
    router.use('/page', express.static(files, { index: false, redirect: false }))
  }
  return router
}

/** For an attribute in double quotes. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}
