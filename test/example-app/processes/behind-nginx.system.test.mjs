import { afterEach, describe, expect, test, vi } from 'vitest'
import { stopAll } from '../../performance/harness/processes.mjs'
import { startSeveral } from '../../performance/several/apps.mjs'
import { inTurn, report, signIn, startTraffic, statements, UP, untilTrue } from '../../performance/several/traffic.mjs'
import { createClient } from '../../support/plain-js/http-client.mjs'
import { NO_NGINX } from '../../support/services/nginx.js'
import { NO_POSTGRES } from '../../support/services/postgres.js'
import { NO_REDIS } from '../../support/services/redis.js'

const REMOTE_KEYS = { maxAge: '4s', cooldown: '1s', keepFor: '1m', timeout: '1s' }

describe.skipIf(NO_NGINX || NO_POSTGRES || NO_REDIS)('several processes behind nginx', { timeout: 120_000 }, () => {
  afterEach(stopAll)
  const startProcesses = () => startSeveral({ node: process.execPath, size: 2, people: 4, reporting: REMOTE_KEYS })

  test('replacing the processes one by one under load loses no request', async () => {
    const { people, ports, apis, nginx, restart } = await startProcesses()
    const person = inTurn(people.slice(0, -1))
    const [house, reports] = [ports.clearingHouse, ports.reporting].map((port) => createClient(port).send)
    const kinds = inTurn([
      () => ({ ...statements(person()), send: house }),
      () => ({ ...report(person()), send: reports }),
      () => ({ ...signIn(person()), send: house }),
    ])
    let sent = 0
    const next = () => ++sent && kinds()()
    const traffic = startTraffic({ clients: 12, next, allowed: (kind) => UP[kind] })
    for (let i = 0; i < 2; i++) {
      const before = sent
      await untilTrue('60 more requests', () => sent > before + 60)
      await restart()
    }
    const all = await traffic.stop()
    const verdict = all.verdict('whole run', 'statements 200', 'report 200', 'login 200')
    expect(verdict.holds, verdict.measured).toBe(true)

    const log = await nginx.accessLog()
    for (const { port } of apis) expect(log).toContain(` 127.0.0.1:${port} `)
    const wrong = log.split('\n').filter((line) => line !== '' && !line.startsWith('200 '))
    expect(wrong).toEqual([])
    const printed = [log, await nginx.errorLog(), ...apis.map((api) => api.log())].join('\n')
    for (const { password, token } of people)
      for (const secret of [password, ...token.split('.')]) expect(printed).not.toContain(secret)
  })

  test('a process sees the address of the client, and ignores a forged one', async () => {
    const { people, ports, apis } = await startProcesses()
    const { send } = createClient(ports.clearingHouse, { localAddress: '127.0.0.9' })
    const { path } = statements(people[0]).request
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    for (let i = 0; i < 2; i++) expect(await send({ method: 'GET', path, headers })).toMatchObject({ status: 401 })
    const printed = () => apis.map((api) => api.log()).join('\n')
    await vi.waitFor(() => expect(printed().match(/missing_token from=127\.0\.0\.9\n/g)).toHaveLength(2), 60_000)
    expect(printed()).not.toContain('203.0.113.7')
  })
})
