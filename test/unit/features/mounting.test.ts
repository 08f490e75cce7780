import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Express, RequestHandler } from 'express'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageOn } from '../../support/host.js'
import { EXPRESS, listen } from '../../support/http.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mounting-'))
  await mkdir(join(folder, 'reports'))
  await writeFile(join(folder, 'reports/x'), 'secret')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(EXPRESS)('a guard on %s', async (_, express) => {
  const { makeIssuer, requireBearer } = await packageOn(express)
  const guard = requireBearer({ tokens: makeIssuer() })
  const files = () => express.static(folder)
  const OTHER_PATHS = ['/%72eports/x', '//reports/x']

  async function statuses(app: Express, paths: readonly string[]): Promise<number[]> {
    const { url } = await listen(app)
    return Promise.all(paths.map(async (path) => (await fetch(url + path)).status))
  }

  it('that is mounted on a path is passed by: Express compares the path as text, and files are found by another', async () => {
    const app = express().use('/reports', guard).use(files())
    expect(await statuses(app, ['/reports/x', ...OTHER_PATHS])).toEqual([401, 200, 200])
  })

  it.each([
    ['with the files', () => express().use(guard, files())],
    ['on the router of the files', () => express().use(express.Router().use(guard, files()))],
  ])('that is mounted %s refuses every path', async (_where, app) => {
    expect(await statuses(app(), ['/reports/x', ...OTHER_PATHS])).toEqual([401, 401, 401])
  })

  it('on a route with a regular expression refuses every path that the route takes', async () => {
    const route = /reports\/x$/
    const list: RequestHandler = (_req, res) => void res.json([])
    const besides = express().use('/reports', guard).get(route, list)
    const onIt = express().get(route, guard, list)
    expect(await statuses(besides, ['/reports/x', '//reports/x'])).toEqual([401, 200])
    expect(await statuses(onIt, ['/reports/x', '//reports/x'])).toEqual([401, 401])
  })
})
