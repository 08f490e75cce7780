// Tests features/refresh/{old-refresh-options,old-refresh-tokens}.ts
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asJson } from '../../support/host.js'
import { client, TOKEN_PATH } from '../../support/http.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'

const SERVER = fileURLToPath(new URL('old-refresh-server.mjs', import.meta.url))
const ROUNDS = 20

/** Starts a process with the compiled package. */
async function startProcess(url: string) {
  const child = fork(SERVER, { env: { ...process.env, REDIS_URL: url, ACCOUNTS: String(ROUNDS) } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const message = async () => (await once(child, 'message'))[0]
  const send = client((await message()).port)
  return {
    async refresh(refreshToken: string) {
      const { status, body } = await send({
        method: 'POST',
        path: `${TOKEN_PATH}/refresh`,
        ...asJson({ refreshToken }),
      })
      return { status, next: status === 200 ? JSON.parse(body).refreshToken : body }
    },
    /** Returns the number of sessions that the process has started, and that an account has. */
    told(accountId: string): Promise<{ started: number; sessions: number }> {
      child.send(accountId)
      return message()
    },
  }
}

describe.skipIf(NO_REDIS)('two processes on one Redis, with two uses of one old refresh token at the same time', () => {
  it('start one session, and return the same refresh token', { timeout: 60_000 }, async () => {
    const { url } = await startRedis()
    const redis = new Redis(url)
    onTestFinished(() => redis.disconnect())
    const processes = await Promise.all([startProcess(url), startProcess(url)])
    for (let round = 0; round < ROUNDS; round++) {
      const [accountId, token] = [`acc-${round}`, `old-token-${round}`]
      await redis.set(`old:${token}`, accountId)
      const [one, two] = await Promise.all(processes.map(({ refresh }) => refresh(token)))
      expect([one?.status, two?.status]).toEqual([200, 200])
      expect(two?.next).toBe(one?.next)
      const told = await Promise.all(processes.map((each) => each.told(accountId)))
      expect(told.map(({ sessions }) => sessions)).toEqual([1, 1])
      expect(told.reduce((sum, { started }) => sum + started, 0)).toBe(round + 1)
      expect(await redis.exists(`old:${token}`)).toBe(0)
      // The session lives on in either process.
      expect((await processes[round % 2]?.refresh(one?.next))?.status).toBe(200)
    }
  })
})
