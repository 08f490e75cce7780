import express from 'express'
import { createAuth, memoryAccounts, memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { STATEMENTS, soundParts } from '../../faults/apps/own.mjs'
import { checkReport } from '../../support/cli.js'
import { readPage } from '../../support/documents/pages.js'
import { ACCOUNTS, ISSUER, PASSWORD, signingKey } from '../../support/fixtures.js'
import { listen } from '../../support/http.js'
import { NO_NGINX, startNginxSite } from '../../support/services/nginx.js'

/** Returns the configuration that the page prints, without its certificates, for one process and one port. */
function printed(port: number, upstream: number): string {
  const [, block = ''] = /```nginx\n(.*?)```/s.exec(readPage('docs/guides/proxies-and-cors.md').text) ?? []
  expect(block).toContain('listen 443 ssl;')
  return block
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace(/^.*ssl_certificate.*\n/gm, '')
    .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`)
    .replace(/^.*127\.0\.0\.1:3001.*\n/m, '')
}

describe.skipIf(NO_NGINX)('check behind the nginx that the page prints', () => {
  it.each(['body', 'cookie'] as const)('holds: %s', async (refresh) => {
    const { passwords } = soundParts()
    const accounts = memoryAccounts([{ ...ACCOUNTS.alice, passwordHash: PASSWORD }])
    const ofRefresh = { store: memoryStore(), secret: 'secret r'.repeat(4), refresh }
    const auth = createAuth({ issuer: ISSUER, keys: signingKey('ES256'), accounts, passwords, ...ofRefresh })
    const app = express().set('trust proxy', 1).use(auth.router)
    app.get(STATEMENTS, auth.guard(), (_req, res) => void res.json([]))
    const { port } = await listen(app)
    const url = await startNginxSite((site) => printed(site, port))
    const args = [url, '--email', ACCOUNTS.alice.email, '--guarded', STATEMENTS]
    const { code, fails } = await checkReport(args, { env: { CHECK_PASSWORD: PASSWORD } })
    expect(fails).toEqual([])
    expect(code).toBe(0)
  })
})
