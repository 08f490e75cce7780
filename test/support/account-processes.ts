import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mail, MailKind } from 'express-token-endpoint'
import { expect, onTestFinished } from 'vitest'
import { all, until } from './concurrency.js'
import { asJson } from './host.js'
import { client } from './http.js'
import { mariadb, NO_MARIADB } from './services/mariadb.js'
import { NO_POSTGRES, startPostgres } from './services/postgres.js'
import { NO_REDIS, startRedis } from './services/redis.js'

const SERVER = fileURLToPath(new URL('../attacks/logins/account-server.mjs', import.meta.url))
const PROCESSES = 3
/** The requests with one code at once. Each process has two of them. */
export const USES = 6

type Message = { port?: number; mail?: Mail; failed?: string }

/** The stores that three processes share: their name, whether this machine lacks them, and the function that opens one. */
export const STORES: [name: string, isMissing: boolean, open: () => Promise<string>][] = [
  ['Redis', NO_REDIS, async () => (await startRedis()).url],
  ['PostgreSQL', NO_POSTGRES, async () => (await startPostgres()).createDatabase()],
  ['MariaDB', NO_MARIADB, async () => `mysql://root@127.0.0.1:${(await mariadb()).port}/app`],
  ['SQLite', false, async () => ''],
]

/** Starts processes on one store, one after the other, because the first creates the tables. */
export async function startProcesses(store: string, url: string) {
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
  const post = (path: string, body: object, token?: string) => {
    const { headers, ...sent } = asJson(body)
    const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const address = `10.0.${clients >> 8}.${clients++ & 255}`
    const send = sends[clients % PROCESSES] as (typeof sends)[number]
    return send({
      ...sent,
      method: 'POST',
      path,
      headers: { ...headers, ...authorization, 'X-Forwarded-For': address },
    })
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

  /** Sends requests at once. Returns the only response with the status of a success, and its number. */
  async function onlyOne(success: number, others: number[], request: (i: number) => ReturnType<typeof post>) {
    const answers = await all(USES, request)
    const found = answers.map(({ status }) => status)
    expect([failures, found.filter((status) => status === success)]).toEqual([[], [success]])
    for (const status of found) expect([success, ...others]).toContain(status)
    const at = found.indexOf(success)
    return { at, body: answers[at]?.body ?? '' }
  }
  return { post, codeOf, onlyOne, failures }
}
