import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mail, MailKind } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { all, until } from '../../support/concurrency.js'
import { asJson } from '../../support/host.js'
import { client, TOKEN_PATH } from '../../support/http.js'
import { mariadb, NO_MARIADB } from '../../support/services/mariadb.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'

const SERVER = fileURLToPath(new URL('account-server.mjs', import.meta.url))
const ACCOUNT = '/auth/account'
const PROCESSES = 3
/** The requests with one code at once. Each process has two of them. */
const USES = 6
const ROUNDS = 8

type Message = { port?: number; mail?: Mail; failed?: string }

const STORES: [name: string, isMissing: boolean, open: () => Promise<string>][] = [
  ['Redis', NO_REDIS, async () => (await startRedis()).url],
  ['PostgreSQL', NO_POSTGRES, async () => (await startPostgres()).createDatabase()],
  ['MariaDB', NO_MARIADB, async () => `mysql://root@127.0.0.1:${(await mariadb()).port}/app`],
  ['SQLite', false, async () => ''],
]

/** Starts processes on one store, one after the other, because the first creates the tables. */
async function start(store: string, url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const mails: Mail[] = []
  const failures: string[] = []
  const env = { ...process.env, STORE: store, STORE_URL: url, ACCOUNTS_FILE: join(folder, 'accounts.db') }

  async function startProcess(isFirst: boolean) {
    const child: ChildProcess = fork(SERVER, { env: { ...env, ...(isFirst && { IS_FIRST: '1' }) } })
    onTestFinished(() => void child.kill('SIGKILL'))
    const port = await new Promise<number>((resolve, reject) => {
      child.on('exit', () => reject(new Error('The process has ended. Run npm run build:example first.')))
      child.on('message', (message: Message) => {
        if (message.port !== undefined) resolve(message.port)
        if (message.mail) mails.push(message.mail)
        if (message.failed) failures.push(message.failed)
      })
    })
    return client(port)
  }

  const sends = [await startProcess(true)]
  while (sends.length < PROCESSES) sends.push(await startProcess(false))
  let clients = 0
  const post = (path: string, body: object) => {
    const { headers, ...sent } = asJson(body)
    const address = `10.0.${clients >> 8}.${clients++ & 255}`
    const send = sends[clients % PROCESSES] as (typeof sends)[number]
    return send({ ...sent, method: 'POST', path, headers: { ...headers, 'X-Forwarded-For': address } })
  }

  /** Asks for a code, and returns it. */
  async function codeOf(kind: MailKind, path: string, email: string): Promise<string> {
    expect((await post(path, { email })).status).toBe(202)
    const mail = await until(() => {
      const found = mails.find((one) => one.kind === kind && one.to === email)
      expect(found).toBeDefined()
      return found
    })
    return mail?.code ?? ''
  }
  return { post, codeOf, failures }
}

describe.each(STORES)('three processes on one %s, with uses of one code at once', (name, isMissing, open) => {
  it.skipIf(isMissing)('let one of them sign up, reset and sign in', { timeout: 300_000 }, async () => {
    const { post, codeOf, failures } = await start(name, await open())
    /** Sends requests at once. Returns the number of the only one that succeeds. */
    async function onlyOne(success: number, others: number[], request: (i: number) => ReturnType<typeof post>) {
      const answers = (await all(USES, request)).map(({ status }) => status)
      expect([failures, answers.filter((status) => status === success)]).toEqual([[], [success]])
      for (const status of answers) expect([success, ...others]).toContain(status)
      return answers.indexOf(success)
    }
    const passwordOf = (act: string, i: number) => `the password of the ${act} ${i}`

    await all(ROUNDS, async (round) => {
      const email = `${round}@example.com`
      const signUp = await codeOf('sign-up', ACCOUNT, email)
      const confirm = (i: number) => post(`${ACCOUNT}/confirm`, { code: signUp, password: passwordOf('sign-up', i) })
      const first = await onlyOne(200, [403, 409], confirm)
      const signIn = (password: string) => post(TOKEN_PATH, { email, password })
      expect((await signIn(passwordOf('sign-up', first))).status).toBe(200)

      const reset = await codeOf('password-reset', `${ACCOUNT}/password/forgotten`, email)
      const set = (i: number) => post(`${ACCOUNT}/password/reset`, { code: reset, password: passwordOf('reset', i) })
      const second = await onlyOne(204, [403], set)
      for (let i = 0; i < USES; i++)
        expect((await signIn(passwordOf('reset', i))).status).toBe(i === second ? 200 : 403)

      const mailed = await codeOf('sign-in', `${TOKEN_PATH}/mail`, email)
      await onlyOne(200, [403, 503], () => post(`${TOKEN_PATH}/mail/confirm`, { code: mailed }))
    })
    expect(failures).toEqual([])
  })
})
