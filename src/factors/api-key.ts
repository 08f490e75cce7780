import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { toBase32 } from './base32.js'

/** The prefix by which scanners of secrets find a key. */
const PREFIX = 'etk_'
/** 160 bits. */
const BYTES = 20
const KEY = /^etk_([a-z2-7]{32})([a-z2-7]{7})$/

/** Returns the checksum of a text, so that a mistyped key costs no look-up and scanners find few wrong ones. */
function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return toBase32(bytes).toLowerCase()
}

/** Returns a new API key: `etk_`, 160 random bits and a checksum. */
export function newApiKey(): string {
  const text = PREFIX + toBase32(randomBytes(BYTES)).toLowerCase()
  return text + checksum(text)
}

/** Returns whether a text has the form of an API key, with its checksum. */
export function isApiKey(text: string): boolean {
  const [, random, check] = KEY.exec(text) ?? []
  return random !== undefined && checksum(PREFIX + random) === check
}

/** Returns the id of a key of an environment in the store. Its bits are random, so a plain hash is enough. */
export const apiKeyId = (issuer: string, text: string): string =>
  hash('sha256', JSON.stringify([issuer, text]), 'base64url')
