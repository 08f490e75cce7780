import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { Router } from 'express'
import { pagePolicy } from '../security-headers.js'

export interface PageOptions {
  /** Returns the address of the reporting API for browsers, or undefined when the address is unknown. */
  reportingUrl: () => string | undefined
  /** Folder of the example app. Default: the folder that contains this file's `dist`. */
  folder?: string
}

const FOLDER = fileURLToPath(new URL('../../..', import.meta.url))

/** Creates a router that serves the page for both APIs. */
export function pageRouter({ reportingUrl, folder = FOLDER }: PageOptions): Router {
  const html = readFileSync(join(folder, 'page', 'index.html'), 'utf8')
  const router = Router()
  const policy = pagePolicy(() => {
    const url = reportingUrl()
    return url === undefined ? undefined : new URL(url).origin
  })

  router.get('/', policy, (_req, res) => {
    // The page gets the address in the response that carries the policy, so both name the same server.
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
