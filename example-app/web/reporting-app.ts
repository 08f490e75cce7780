import { type Express, Router } from 'express'
import { authOf, type TokenVerifier } from 'express-token-endpoint'
import type { Reports } from '../data/reports.js'
import { type BaseDependencies, createBaseApp } from './base-app.js'
import { allowPage } from './cross-origin.js'
import { docsRouter } from './documents/docs-router.js'
import { reportingDocument } from './documents/openapi.js'
import { observer } from './log.js'
import { passportGuard } from './passport-guard.js'
import { sendProblem } from './problem.js'

export interface ReportingDependencies extends BaseDependencies {
  /** Address of the API for clients. */
  url: string
  tokens: TokenVerifier
  reports: Reports
}

/**
 * Creates the online reporting API, a Passport app. It does not listen yet. It asks no store about a token, because a token lives for ten
 * minutes, and a disabled account gets no other one.
 */
export function createReportingApp(dependencies: ReportingDependencies): Express {
  const { url, tokens, reports, log } = dependencies
  const { issuer } = tokens
  const guard = passportGuard({ tokens, scope: 'reports:read', onEvent: observer(log) })
  const router = Router()

  router.get('/api/v2013/reports/daily-totals', guard, async (req, res) => {
    const { house } = req.query
    if (house !== undefined && typeof house !== 'string') return sendProblem(res, 400, 'bad_request')
    const houses = await reports.dailyTotals(authOf(req).accountId, house)
    if (!houses) return sendProblem(res, 404, 'unknown_house')
    res.set('Cache-Control', 'no-store').json({ houses })
  })

  return createBaseApp(dependencies, issuer, allowPage(issuer), docsRouter(reportingDocument(url)), router)
}
