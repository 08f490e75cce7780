import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { type RequestHandler, Router } from 'express'
import { pagePolicy } from '../security-headers.js'

export interface PageOptions {
  /** Returns the address of the reporting API for browsers, or undefined when the address is unknown. */
  reportingUrl: () => string | undefined
  /** Folder of the example app. Default: the folder that contains this file's `dist`. */
  folder?: string
  /** True where the server has a mailbox, which the routes that mail a code need. Default: false. */
  hasMailBox?: boolean
  /** The domain of the passkeys. Default: no passkeys. */
  passkeys?: string | undefined
}

export const FOLDER = fileURLToPath(new URL('../../..', import.meta.url))

const { resolve } = createRequire(import.meta.url)

/** The folder with the package's client, which the browser loads as it is. */
const PACKAGE = dirname(resolve('express-token-endpoint/client'))

/** The folder with the module that draws QR codes, which the browser loads as it is. */
const QR = dirname(resolve('uqr'))

/** Creates a router that serves the page for both APIs. */
export function pageRouter({ reportingUrl, folder = FOLDER, hasMailBox = false, passkeys = '' }: PageOptions): Router {
  const html = readFileSync(join(folder, 'page', 'index.html'), 'utf8')
  const [, importMap = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(html) ?? []
  const router = Router()
  const policy = pagePolicy(() => {
    const url = reportingUrl()
    return url === undefined ? undefined : new URL(url).origin
  }, importMap)

  router.get('/', policy, (_req, res) => {
    // The page gets the address in the response that carries the policy, so both name the same server.
    const page = html
      .replace('{{reporting-url}}', () => escaped(reportingUrl() ?? ''))
      .replace('{{mail-box}}', hasMailBox ? 'mailbox' : '')
      .replace('{{passkeys}}', () => escaped(passkeys))
    res.set('Cache-Control', 'no-store').type('html').send(page)
  })
  const files = (root: string) => express.static(root, { index: false, redirect: false })
  router.use('/page', files(join(folder, 'page', 'public')), files(join(folder, 'dist', 'page')))
  const only =
    (path: string): RequestHandler =>
    (req, _res, next) =>
      next(req.path === path ? undefined : 'router')
  router.use('/page/package', only('/client.js'), files(PACKAGE))
  router.use('/page/qr', only('/index.mjs'), files(QR))
  return router
}

/** Escapes text for HTML, and for an attribute in double quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
