import { execFile } from 'node:child_process'
import type { KeyObject } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type express from 'express'
import type {
  AccountStore,
  Auth,
  BearerGuard,
  Passwords,
  SessionStore,
  Sessions,
  Store,
  TokenIssuer,
} from 'express-token-endpoint'
import type { TokenClient } from 'express-token-endpoint/client'
import type { OpenApiDocument } from 'express-token-endpoint/openapi'
import type { Redis } from 'ioredis'
import type { Kysely } from 'kysely'
import request from 'supertest'
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest'
import { newKeyPair } from '../../../src/tokens/algorithms/new-key-pair.js'
import { SECRET } from '../fixtures.js'
import { TOKEN_PATH } from '../http.js'
import { CONTEXTS, KEY_SERVICES } from './contexts.js'
import { type Block, examples } from './pages.js'
import { root } from './repository.js'

/** Packages that are not installed, because they are large. */
const KEY_CLIENTS = /(?<= from ')(@aws-sdk\/client-kms|@google-cloud\/kms|@azure\/[\w-]+|pkcs11js)(?=')/g

/** Returns a block as a module, with its top-level names as exports. The module listens on no port. */
export function moduleOf({ code }: Block, context: string): string {
  const names = [...code.matchAll(/^const (\w+)/gm)].map(([, variable = '']) => variable)
  const parts = [...code.matchAll(/^const \{ ([^}]+) \} =/gm)].flatMap(([, list = '']) => list.split(', '))
  const declared = [...names, ...parts.map((part) => part.replace(/^.*: /, ''))]
  const runnable = code
    .replace(/^(?:const server = )?app\.listen\(3000.*\)\n/m, '')
    .replaceAll(KEY_CLIENTS, KEY_SERVICES)
  return `${context}\n${runnable}\nexport { ${declared.filter((name) => name !== 'server').join(', ')} }\n`
}

const pem = (key: KeyObject) => key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }) as string

/** The previous signing key of the examples. Their environment has only its public half. */
export const oldKeys = newKeyPair('ec', { namedCurve: 'P-256' })

/** Sets the environment variables that the pages name. */
function setEnvironment(): void {
  const { privateKey, publicKey } = newKeyPair('ec', { namedCurve: 'P-256' })
  Object.assign(process.env, {
    TOKEN_SECRET: SECRET,
    TOKEN_KEY: pem(privateKey),
    TOKEN_PUBLIC_KEY: pem(publicKey),
    OLD_TOKEN_KEY: pem(oldKeys.publicKey),
    ACCOUNTS_DB: ':memory:',
    APP_ORIGIN: 'https://app.example.com',
    SANDBOX_SECRET: [...SECRET].reverse().join(''),
    AUTH_SECRET: SECRET,
  })
}

/** Names that blocks or their contexts declare. A block has some of them. */
export interface Names {
  accounts: Required<AccountStore>
  api: TokenClient
  app: express.Express
  auth: Auth
  // biome-ignore lint/suspicious/noExplicitAny: the tables of a block are the host's own
  db: Kysely<any>
  document: OpenApiDocument
  guard: BearerGuard
  httpServer: Server
  log: Record<'error' | 'info', unknown>
  passwords: Passwords
  redis: Redis
  revoked: Set<string>
  router: express.Router
  /** The sessions of an app, or of its store. */
  sessions: Sessions & SessionStore
  /** The store of an app, or its sessions. */
  store: Store & SessionStore
  tokens: TokenIssuer
}

/** Runs Node without the environment of this test run. */
export const runNode = (...args: string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: root, env: { PATH: process.env['PATH'] } })

/**
 * Writes blocks of the pages to files before the tests of a suite, and removes the files afterwards.
 * @param testUrl the suite's `import.meta.url`
 */
export function startExamples(testUrl: string) {
  const test = fileURLToPath(testUrl)
  const folder = `${dirname(test)}/.run/${basename(test, '.test.ts')}`
  const fileOf = (name: string) => `${folder}/${name}.ts`

  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const block of examples()) {
      const { name = '' } = block
      writeFileSync(fileOf(name), moduleOf(block, CONTEXTS[name] ?? ''))
    }
    setEnvironment()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  return {
    folder,
    fileOf,
    /**
     * Runs a block and returns its top-level names.
     * @param again a name for this run, to run a block a second time
     */
    async run<T = unknown>(name: string, again?: string): Promise<Names & T> {
      const query = again === undefined ? '' : `?${encodeURIComponent(again)}`
      return await import(/* @vite-ignore */ fileOf(name) + query)
    },
  }
}

/** The versions of Express that the pages speak of. */
export const VERSIONS = ['express', 'express4'] as const

type Handler = (...given: unknown[]) => unknown
const METHODS = ['get', 'post', 'put', 'delete'] as const

/** Returns a handler whose rejection goes to `next`, as the pages say for Express 4. */
const wrapped =
  (handler: Handler): Handler =>
  (req, res, next) =>
    void Promise.resolve(handler(req, res, next)).catch(next as Handler)

/** Returns Express 4 as the module of a block, whose handlers are wrapped. */
export async function wrappedExpress4() {
  const { default: express4 } = await import('express4')
  const create = () => {
    const app = express4() as unknown as Record<string, Handler>
    for (const method of METHODS) {
      const add = app[method]?.bind(app) as Handler
      app[method] = (path, ...handlers) => add(path, ...(handlers as Handler[]).map(wrapped))
    }
    return app
  }
  return { ...express4, default: Object.assign(create, express4) }
}

/** Lets the next block import a version of Express. On Express 4, its handlers are wrapped as the pages say. */
export function useExpress(version: (typeof VERSIONS)[number]): void {
  vi.resetModules()
  if (version === 'express') return
  vi.doMock('express', wrappedExpress4)
  onTestFinished(() => void vi.doUnmock('express'))
}

/** Signs in with the account of the contexts. */
export const signIn = (app: express.Express, path = TOKEN_PATH) =>
  request(app).post(path).send({ email: 'alice@example.com', password: 'secret' })

/** Signs in and returns the token. */
export async function tokenFrom(app: express.Express, path?: string): Promise<string> {
  const { body } = await signIn(app, path).expect(200)
  return body.authenticationToken
}

/** Sends a request with a token. */
export const get = (app: express.Express, path: string, token: string) =>
  request(app).get(path).auth(token, { type: 'bearer' })
