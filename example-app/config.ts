import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Credentials } from 'express-token-endpoint/client'
import { OperatorError } from './errors.js'

export interface Config {
  /** Address that both APIs listen on. */
  host: string
  /** Port of the clearing-house API. 0 chooses a free port. */
  port: number
  /** Port of the online reporting API. 0 chooses a free port. */
  reportingPort: number
  /** Issuer of every token, and the address of the page. Undefined: the address that the server listens on. */
  baseUrl: string | undefined
  /** Folder of the signing keys and of the SQLite database. */
  dataDir: string
  /** PostgreSQL database. It may contain a password, so never log it. */
  databaseUrl: string | undefined
  /** Redis for the state that several processes share. It may contain a password, so never log it. */
  redisUrl: string | undefined
  /** Address of the public keys for the reporting API. Undefined: see `keySourceOf`. */
  jwksUrl: string | undefined
  /** Address of the reporting API for browsers. Undefined: the address that `npm start` makes it listen on. */
  reportingUrl: string | undefined
  /** Number of proxies that set `X-Forwarded-For`. */
  trustedProxies: number
  /** Names of the settings that let other machines reach the server or its accounts. */
  exposedBy: readonly string[]
}

/** Addresses of the APIs for clients, without a slash at the end. */
export interface ApiUrls {
  clearingHouse: string
  reporting: string
}

const JWKS_PATH = '/.well-known/jwks.json'

/** This file runs from `dist`, and the folder is next to the sources. */
const DATA_DIR = fileURLToPath(new URL('../.data', import.meta.url))

/** Functions that return true for a value which says that other machines take part. */
const EXPOSES: Readonly<Record<string, (value: string) => boolean>> = {
  HOST: (host) => !isLoopback(host),
  BASE_URL: isElsewhere,
  REPORTING_URL: isElsewhere,
  JWKS_URL: isElsewhere,
  DATABASE_URL: isElsewhere,
  REDIS_URL: isElsewhere,
  TRUSTED_PROXIES: (number) => Number(number) > 0,
  NODE_ENV: (name) => name === 'production',
}

/**
 * Reads and checks the environment variables. An empty variable counts as unset.
 * @throws OperatorError that names the variable and its valid values
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const host = hostOf(env['HOST'] || '127.0.0.1')
  const baseUrl = env['BASE_URL'] ? baseUrlOf('BASE_URL', env['BASE_URL']) : undefined
  if (!baseUrl && isAnyAddress(host)) {
    throw new OperatorError(`Clients cannot reach the server at HOST=${host}. Set BASE_URL too.`)
  }
  const databaseUrl = env['DATABASE_URL'] ? databaseUrlOf(env['DATABASE_URL']) : undefined
  const port = numberOf('PORT', env['PORT'] || '3000', 65_535)
  return {
    host,
    port,
    reportingPort: numberOf('REPORTING_PORT', env['REPORTING_PORT'] || (port === 0 ? '0' : '3001'), 65_535),
    baseUrl,
    dataDir: resolve(env['DATA_DIR'] || DATA_DIR),
    databaseUrl,
    redisUrl: env['REDIS_URL'] ? redisUrlOf(env['REDIS_URL']) : undefined,
    jwksUrl: env['JWKS_URL'] ? jwksUrlOf(env['JWKS_URL']) : undefined,
    reportingUrl: env['REPORTING_URL'] ? baseUrlOf('REPORTING_URL', env['REPORTING_URL']) : undefined,
    trustedProxies: numberOf('TRUSTED_PROXIES', env['TRUSTED_PROXIES'] || '0', 10),
    exposedBy: Object.keys(EXPOSES).filter((name) => env[name] && EXPOSES[name]?.(env[name])),
  }
}

/**
 * Returns the issuer that the reporting API accepts, and the address of its public keys: `JWKS_URL`, else the
 * clearing-house API on this machine, else the clearing-house API at `BASE_URL`.
 * @throws OperatorError when the settings determine no trustworthy address
 */
export function keySourceOf({ host, port, baseUrl, jwksUrl }: Config): { issuer: string; jwksUrl: string } {
  if (port === 0 && !(baseUrl && jwksUrl)) {
    throw new OperatorError(
      'With PORT=0 the reporting API cannot find the clearing-house API. Set BASE_URL and JWKS_URL.',
    )
  }
  const issuer = baseUrl ?? urlOf(host, port)
  if (jwksUrl) return { issuer, jwksUrl }
  const here = new URL(JWKS_PATH, urlOf(isAnyAddress(host) ? (isIP(host) === 6 ? '::1' : '127.0.0.1') : host, port))
  if (isTrustworthy(here)) return { issuer, jwksUrl: here.href }
  const there = new URL(issuer.replace(/\/*$/, JWKS_PATH))
  if (isTrustworthy(there)) return { issuer, jwksUrl: there.href }
  throw new OperatorError('The reporting API fetches keys by https, or by http from this machine. Set JWKS_URL.')
}

/**
 * Returns the addresses of both APIs: `BASE_URL` and `REPORTING_URL`, else the addresses that `npm start` listens on.
 * @throws OperatorError for an address that a password must not go to
 */
export function apiUrlsOf({ host, port, reportingPort, baseUrl, reportingUrl }: Config): ApiUrls {
  const urls = { clearingHouse: baseUrl ?? urlOf(host, port), reporting: reportingUrl ?? urlOf(host, reportingPort) }
  if (![urls.clearingHouse, urls.reporting].every((url) => isTrustworthy(new URL(url)))) {
    throw new OperatorError(
      'Passwords and tokens need https. Set BASE_URL and REPORTING_URL; http works for this machine only.',
    )
  }
  return { clearingHouse: urls.clearingHouse.replace(/\/*$/, ''), reporting: urls.reporting.replace(/\/*$/, '') }
}

/**
 * Reads the account that a service signs in with. Never log it.
 * @throws OperatorError when a variable is missing
 */
export function readServiceAccount(env: NodeJS.ProcessEnv): Credentials {
  const [email, password] = [env['SERVICE_EMAIL'], env['SERVICE_PASSWORD']]
  if (email && password) return { email, password }
  throw new OperatorError('Set SERVICE_EMAIL and SERVICE_PASSWORD to the email address and the password of an account.')
}

/** Returns a URL with an IPv6 address in brackets (RFC 3986 section 3.2.2). */
export function urlOf(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function hostOf(value: string): string {
  if (isIP(value) === 0 && !/^[a-z\d]([\w.-]*[a-z\d])?$/i.test(value)) {
    throw new OperatorError('HOST is invalid. Set an IP address or a host name, such as 127.0.0.1.')
  }
  return value
}

function numberOf(variable: string, value: string, max: number): number {
  const number = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (!(number <= max)) throw new OperatorError(`${variable} is invalid. Set a whole number from 0 to ${max}.`)
  return number
}

function jwksUrlOf(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || url.username || url.password || url.hash || !isTrustworthy(url)) {
    throw new OperatorError(
      'JWKS_URL is invalid. Set a URL such as https://api.example.com/.well-known/jwks.json; http works for this machine only.',
    )
  }
  return value
}

/** Refuses plain http from other machines, because anybody on the way could add a key. */
function isTrustworthy({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

function baseUrlOf(variable: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  // A comma or a semicolon would end this source in the page's Content-Security-Policy.
  if (!isHttp || url.username || url.password || /[?#,;]/.test(value)) {
    throw new OperatorError(
      `${variable} is invalid. Set an absolute http or https URL without query, fragment, comma and semicolon.`,
    )
  }
  return value
}

function databaseUrlOf(value: string): string {
  if (!isStoreUrl(value, /^postgres(ql)?:$/, /^\/[^/]+$/)) {
    throw new OperatorError(
      'DATABASE_URL is invalid. Set a URL such as postgres://user:password@127.0.0.1:5432/database.',
    )
  }
  return value
}

function redisUrlOf(value: string): string {
  if (!isStoreUrl(value, /^rediss?:$/, /^(\/\d*)?$/)) {
    throw new OperatorError('REDIS_URL is invalid. Set a URL such as redis://user:password@127.0.0.1:6379.')
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

/** Returns true for an address that a server can listen on, but no client can connect to. */
function isAnyAddress(host: string): boolean {
  return /^[0:.]+$/.test(host)
}

/** Returns true for a URL of another machine. In `DATABASE_URL`, a `host` parameter overrides the host name. */
function isElsewhere(value: string): boolean {
  const { hostname, searchParams } = new URL(value)
  return !isLoopback(hostname) || searchParams.has('host')
}

/** Returns true for a name or address of this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))
}
