import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.js'

export interface Config {
  /** Where to listen. */
  host: string
  /** 0: any free port. */
  port: number
  /** The environment's base URL, bound into every token. Undefined: the address that the server listens on. */
  baseUrl: string | undefined
  /** Holds the signing key, and the database unless there is a `databaseUrl`. */
  dataDir: string
  /** A PostgreSQL database. It may hold a password: never to be logged. */
  databaseUrl: string | undefined
  /** A Redis for what several processes share. It may hold a password: never to be logged. */
  redisUrl: string | undefined
  /** Whether nobody but this machine can reach the server and its accounts, as far as its own settings tell. */
  local: boolean
}

/** Beside the sources: this file runs from `dist`. */
const DATA_DIR = fileURLToPath(new URL('../data', import.meta.url))

/**
 * The environment variables, checked. An empty one is the same as none.
 * @throws Failure naming the variable and what it must be
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const host = hostOf(env['HOST'] || '127.0.0.1')
  const baseUrl = env['BASE_URL'] ? baseUrlOf(env['BASE_URL']) : undefined
  if (!baseUrl && /^[0:.]+$/.test(host)) {
    throw new Failure(`HOST=${host} is no address to reach the server at, so BASE_URL is needed too`)
  }
  const databaseUrl = env['DATABASE_URL'] ? databaseUrlOf(env['DATABASE_URL']) : undefined
  return {
    host,
    port: portOf(env['PORT'] || '3000'),
    baseUrl,
    dataDir: resolve(env['DATA_DIR'] || DATA_DIR),
    databaseUrl,
    redisUrl: env['REDIS_URL'] ? redisUrlOf(env['REDIS_URL']) : undefined,
    local:
      isLoopback(host) &&
      (baseUrl === undefined || isLoopback(new URL(baseUrl).hostname)) &&
      (databaseUrl === undefined || isLocalDatabase(new URL(databaseUrl))),
  }
}

/** An address as it stands in a URL (RFC 3986 section 3.2.2). */
export function urlOf(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function hostOf(value: string): string {
  if (isIP(value) === 0 && !/^[a-z\d]([\w.-]*[a-z\d])?$/i.test(value)) {
    throw new Failure('HOST must be an IP address or a host name, like 127.0.0.1')
  }
  return value
}

function portOf(value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (!(port <= 65_535)) throw new Failure('PORT must be a whole number from 0 to 65535')
  return port
}

function baseUrlOf(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username || url.password || /[?#]/.test(value)) {
    throw new Failure('BASE_URL must be an absolute http or https URL without query and fragment')
  }
  return value
}

function databaseUrlOf(value: string): string {
  if (!isStoreUrl(value, /^postgres(ql)?:$/, /^\/[^/]+$/)) {
    throw new Failure('DATABASE_URL must be a URL like postgres://user:password@127.0.0.1:5432/database')
  }
  return value
}

function redisUrlOf(value: string): string {
  if (!isStoreUrl(value, /^rediss?:$/, /^(\/\d*)?$/)) {
    throw new Failure('REDIS_URL must be a URL like redis://user:password@127.0.0.1:6379')
  }
  return value
}

function isStoreUrl(value: string, protocol: RegExp, path: RegExp): boolean {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  return (
    protocol.test(url.protocol) &&
    path.test(url.pathname) &&
    [url.username, url.password, url.pathname].every(isDecodable)
  )
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Without a host in the URL's usual place, other settings decide where the database is. */
function isLocalDatabase({ hostname, searchParams }: URL): boolean {
  return isLoopback(hostname) && !searchParams.has('host')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))
}
