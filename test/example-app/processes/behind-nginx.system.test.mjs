import { afterEach, describe, expect, test } from 'vitest'
import { stopAll } from '../../performance/harness/processes.mjs'
import { startStores } from '../../performance/harness/stores.mjs'
import { until } from '../../support/concurrency.ts'
import { createClient, login } from '../../support/plain-js/http-client.mjs'
import { NO_NGINX, startNginx } from '../../support/services/nginx.js'
import { NO_POSTGRES } from '../../support/services/postgres.js'
import { NO_REDIS } from '../../support/services/redis.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { NORTH, REPORT, start, tokenFrom } from '../support.js'

describe.skipIf(NO_NGINX || NO_POSTGRES || NO_REDIS)('several processes behind nginx', () => {
  afterEach(stopAll)

  /** Starts two processes of the clearing-house API and one of the reporting API behind nginx, and signs people in. */
  async function startProcesses() {
    const { env, people } = await startStores(4)
    const ports = [await freePort(), await freePort(), await freePort()]
    const nginx = await startNginx({ clearing_house: ports.slice(0, 2), reporting: [ports[2]] })
    const house = `http://127.0.0.1:${nginx.ports.clearingHouse}`
    const startOne = (i) => start(env, `clearing-house:${ports[i]}`)
    const apis = [await startOne(0), await startOne(1)]
    await start({ ...env, JWKS_URL: `${house}/.well-known/jwks.json` }, `reporting:${ports[2]}`)
    const signedIn = []
    for (const person of people) signedIn.push({ ...person, token: await tokenFrom(house, person) })
    return { people: signedIn, ports, nginx, apis, startOne }
  }

  test('replacing the processes one by one under load loses no request', async () => {
    const { people, ports, nginx, apis, startOne } = await startProcesses()
    // A hundred sign-ins end the oldest session of an account, so the person who signs in all the time sends no other request.
    const [busy, ...readers] = people
    const [house, reports] = [nginx.ports.clearingHouse, nginx.ports.reporting].map((port) => createClient(port).send)
    /** Repeats a request that a process refused because Redis or PostgreSQL exceeded a time limit on this machine. */
    const settle = async (request) => {
      const response = await request()
      return response.status === 503 ? settle(request) : response
    }
    const get = async (send, path, { token }) => {
      const headers = { Authorization: `Bearer ${token}` }
      const { status, body } = await settle(() => send({ method: 'GET', path, headers }))
      expect({ status, body }).toMatchObject({ status: 200 })
      return JSON.parse(body)
    }
    const calls = [
      async (person) => expect((await get(house, NORTH, person)).statements).toEqual(person.statements),
      async (person) => {
        const total = (person.statements[0].amountCents / 100).toFixed(2)
        expect((await get(reports, REPORT, person)).houses[0].days).toMatchObject([{ total }])
      },
      async () => expect(await settle(() => house(login(busy.email, busy.password)))).toMatchObject({ status: 200 }),
    ]
    let sent = 0
    let isOver = false
    const wrong = []
    const clients = Array.from({ length: 12 }, async () => {
      while (!isOver) {
        const call = sent++
        await calls[call % 3](readers[Math.floor(call / 3) % 3]).catch((error) => wrong.push(error))
      }
    })
    const printed = []
    for (const i of [0, 1, 0, 1]) {
      const before = sent
      await until(() => expect(sent).toBeGreaterThan(before + 30))
      apis[i].kill('SIGTERM')
      expect(await apis[i].exit).toEqual({ code: 0, signal: null })
      printed.push(apis[i].output())
      apis[i] = await startOne(i)
    }
    isOver = true
    await Promise.all(clients)
    expect(wrong).toEqual([])

    const log = await nginx.accessLog()
    for (const port of ports) expect(log).toContain(` 127.0.0.1:${port} `)
    expect(log.split('\n').filter((line) => line !== '' && !/^(200|503) /.test(line))).toEqual([])
    const all = [log, await nginx.errorLog(), ...printed, ...apis.map(({ output }) => output())].join('\n')
    const failures = all.split('\n').filter((line) => /dependency\.failed|unreachable/.test(line))
    expect(failures.filter((line) => !/time(d )?out|within|for \d+ ms/i.test(line))).toEqual([])
    for (const { password, token } of people)
      for (const secret of [password, ...token.split('.')]) expect(all).not.toContain(secret)
  })

  test('a process sees the address of the client, and ignores a forged one, and nobody else sees /readyz', async () => {
    const { nginx, apis } = await startProcesses()
    for (const port of Object.values(nginx.ports)) {
      for (const [path, status] of Object.entries({ '/healthz': 200, '/readyz': 404, '/%52eadyZ/?x': 404 }))
        expect(await createClient(port).send({ method: 'GET', path })).toMatchObject({ status })
    }
    const { send } = createClient(nginx.ports.clearingHouse, { localAddress: '127.0.0.9' })
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    for (let i = 0; i < 2; i++)
      expect(await send({ method: 'GET', path: NORTH, headers })).toMatchObject({ status: 401 })
    const printed = () => apis.map(({ output }) => output()).join('\n')
    await until(() => expect(printed().match(/missing_token from=127\.0\.0\.9\n/g)).toHaveLength(2))
    expect(printed()).not.toContain('203.0.113.7')
  })
})
