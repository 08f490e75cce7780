import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.js'

export interface Config {
  /** Where to listen. */
  host: string
  /** The clearing-house API's. 0: any free port. */
  port: number
  /** The online reporting API's. 0: any free port. */
  reportingPort: number
  /** The environment's base URL, bound into every token. Undefined: the address that the server listens on. */
  baseUrl: string | undefined
  /** Holds the signing keys, and the database unless there is a `databaseUrl`. */
  dataDir: string
  /** A PostgreSQL database. It may hold a password: never to be logged. */
  databaseUrl: string | undefined
  /** A Redis for what several processes share. It may hold a password: never to be logged. */
  redisUrl: string | undefined
  /** Where the reporting API finds the keys that verify tokens. Undefined: see `keySourceOf`. */
  jwksUrl: string | undefined
  /** Where browsers find the online reporting API. Undefined: where `npm start` has it listen. */
  reportingUrl: string | undefined
  /** How many processes serve each API, beside one that looks after them. Undefined: one, and nobody looks after it. */
  workers: { clearingHouse: number; reporting: number } | undefined
  /** Whether nobody but this machine can reach the server and its accounts, as far as its own settings tell. */
  local: boolean
}

const JWKS_PATH = '/.well-known/jwks.json'

/** Beside the sources: this file runs from `dist`. */
const DATA_DIR = fileURLToPath(new URL('../.data', import.meta.url))

/**
 * The environment variables, checked. An empty one is the same as none.
 * @throws Failure naming the variable and what it must be
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const host = hostOf(env['HOST'] || '127.0.0.1')
  const baseUrl = env['BASE_URL'] ? baseUrlOf('BASE_URL', env['BASE_URL']) : undefined
  if (!baseUrl && isAnyAddress(host)) {
    throw new Failure(`HOST=${host} is no address to reach the server at, so BASE_URL is needed too`)
  }
  const databaseUrl = env['DATABASE_URL'] ? databaseUrlOf(env['DATABASE_URL']) : undefined
  const port = portOf('PORT', env['PORT'] || '3000')
  return {
    host,
    port,
    reportingPort: portOf('REPORTING_PORT', env['REPORTING_PORT'] || (port === 0 ? '0' : '3001')),
    baseUrl,
    dataDir: resolve(env['DATA_DIR'] || DATA_DIR),
    databaseUrl,
    redisUrl: env['REDIS_URL'] ? redisUrlOf(env['REDIS_URL']) : undefined,
    jwksUrl: env['JWKS_URL'] ? jwksUrlOf(env['JWKS_URL']) : undefined,
    reportingUrl: env['REPORTING_URL'] ? baseUrlOf('REPORTING_URL', env['REPORTING_URL']) : undefined,
    workers: workersOf(env),
    local:
      isLoopback(host) &&
      (baseUrl === undefined || isLoopback(new URL(baseUrl).hostname)) &&
      (databaseUrl === undefined || isLocalDatabase(new URL(databaseUrl))),
  }
}

/**
 * Whose tokens the reporting API takes, and where their public keys are: what is set; else the clearing-house API on this
 * machine; else the one at BASE_URL.
 * @throws Failure where there is no telling
 */
export function keySourceOf({ host, port, baseUrl, jwksUrl }: Config): { issuer: string; jwksUrl: string } {
  if (port === 0 && !(baseUrl && jwksUrl)) {
    throw new Failure(
      'With PORT=0 the reporting API cannot find the clearing-house API: BASE_URL and JWKS_URL are needed',
    )
  }
  const issuer = baseUrl ?? urlOf(host, port)
  if (jwksUrl) return { issuer, jwksUrl }
  const here = new URL(JWKS_PATH, urlOf(isAnyAddress(host) ? (isIP(host) === 6 ? '::1' : '127.0.0.1') : host, port))
  if (isTrustworthy(here)) return { issuer, jwksUrl: here.href }
  const there = new URL(issuer.replace(/\/*$/, JWKS_PATH))
  if (isTrustworthy(there)) return { issuer, jwksUrl: there.href }
  throw new Failure('The reporting API takes keys by https, or from this machine: JWKS_URL is needed')
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

function portOf(variable: string, value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (!(port <= 65_535)) throw new Failure(`${variable} must be a whole number from 0 to 65535`)
  return port
}

function workersOf(env: NodeJS.ProcessEnv): Config['workers'] {
  if (!env['WORKERS'] && !env['REPORTING_WORKERS']) return undefined
  return {
    clearingHouse: countOf('WORKERS', env['WORKERS'] || '1'),
    reporting: countOf('REPORTING_WORKERS', env['REPORTING_WORKERS'] || '1'),
  }
}

function countOf(variable: string, value: string): number {
  const count = /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN
  if (!(count >= 1 && count <= 100)) throw new Failure(`${variable} must be a whole number from 1 to 100`)
  return count
}

function jwksUrlOf(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || url.username || url.password || url.hash || !isTrustworthy(url)) {
    throw new Failure(
      'JWKS_URL must be a URL like https://api.example.com/.well-known/jwks.json; http is for this machine',
    )
  }
  return value
}

/** By plain http from elsewhere, anybody on the way could put in a key of their own. */
function isTrustworthy({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

function baseUrlOf(variable: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  // A comma or semicolon would end the source that a page's Content-Security-Policy makes of it.
  if (!isHttp || url.username || url.password || /[?#,;]/.test(value)) {
    throw new Failure(`${variable} must be an absolute http or https URL without query, fragment, comma and semicolon`)
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

/** One to listen at, but none to reach a server at. */
function isAnyAddress(host: string): boolean {
  return /^[0:.]+$/.test(host)
}

/** Without a host in the URL's usual place, other settings decide where the database is. */
function isLocalDatabase({ hostname, searchParams }: URL): boolean {
  return isLoopback(hostname) && !searchParams.has('host')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))
}
