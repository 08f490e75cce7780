import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { PrivateTokenKey, PublicTokenKey } from 'express-token-endpoint'
import { OperatorError } from '../errors.js'
import { readPrivate, withDraft, writeOnce } from './private-files.js'

/**
 * A key in the data folder. `signing-key.pem` signs, and `keys/KID.pem` verify.
 * Before another key replaces `signing-key.pem`, its key is copied to `keys`. So a process that reads the file first and then
 * the folder misses no key at any moment.
 */
export interface HeldKey {
  kid: string
  signs: boolean
  /** Time of the last change of its file. */
  since: Date
  privateKey: KeyObject
}

/**
 * Returns the issuer's keys: the signing key, and the public keys of all others. Creates the signing key at the first start.
 * @throws OperatorError when others can read a file, or a file has no P-256 key
 */
export function tokenKeys(dataDir: string): (PrivateTokenKey | PublicTokenKey)[] {
  const first = signingKey(dataDir)
  return [
    first,
    ...verifyingKeys(dataDir)
      .filter(({ kid }) => kid !== first.kid)
      .map(({ kid, privateKey }) => ({ alg: 'ES256', kid, publicKey: createPublicKey(privateKey) }) as const),
  ]
}

/** Returns the key that signs the tokens. Creates it at the first start. */
export function signingKey(dataDir: string): PrivateTokenKey {
  const { kid, privateKey } = readSigningKey(dataDir)
  return { alg: 'ES256', kid, privateKey }
}

/** Returns true when the folder has a signing key. */
export function hasKeys(dataDir: string): boolean {
  return existsSync(signingKeyFile(dataDir))
}

/** Returns all keys, the signing key first. */
export function listKeys(dataDir: string): HeldKey[] {
  const first = readSigningKey(dataDir)
  return [first, ...verifyingKeys(dataDir).filter(({ kid }) => kid !== first.kid)]
}

/** Adds a key that verifies and does not sign yet. Returns its id. */
export function addKey(dataDir: string): string {
  readSigningKey(dataDir)
  const privateKey = newKey()
  const kid = kidOf(privateKey)
  writeOnce(keyFile(dataDir, kid), pemOf(privateKey))
  return kid
}

/**
 * Makes a key the signing key. The previous signing key then only verifies.
 * @throws OperatorError when no key has this id
 */
export function promoteKey(dataDir: string, kid: string): void {
  const current = readSigningKey(dataDir)
  if (current.kid === kid) return
  const next = verifyingKeys(dataDir).find((key) => key.kid === kid)
  if (!next) throw unknown(kid)
  writeOnce(keyFile(dataDir, current.kid), pemOf(current.privateKey))
  const file = signingKeyFile(dataDir)
  withDraft(file, pemOf(next.privateKey), (draft) => renameSync(draft, file))
}

/**
 * Removes a key.
 * @throws OperatorError when the key signs, or no key has this id
 */
export function removeKey(dataDir: string, kid: string): void {
  if (readSigningKey(dataDir).kid === kid)
    throw new OperatorError(`${kid} is the signing key. Promote another key first.`)
  if (!verifyingKeys(dataDir).some((key) => key.kid === kid)) throw unknown(kid)
  rmSync(keyFile(dataDir, kid))
}

/** Returns the key's thumbprint: a hash of the public key's members in this order, without spaces (RFC 7638). */
function kidOf(key: KeyObject): string {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}

const signingKeyFile = (dataDir: string) => join(dataDir, 'signing-key.pem')
const keyFile = (dataDir: string, kid: string) => join(dataDir, 'keys', `${kid}.pem`)

function unknown(kid: string): OperatorError {
  return new OperatorError(`No key has the id ${kid}. List all keys: npm run example -- keys list`)
}

function readSigningKey(dataDir: string): HeldKey {
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 })
  const file = signingKeyFile(dataDir)
  if (!existsSync(file)) createKeyFile(file)
  return { ...readKey(file), signs: true }
}

function verifyingKeys(dataDir: string): HeldKey[] {
  const kids = readdirSync(join(dataDir, 'keys')).flatMap((name) => /^([\w-]{43})\.pem$/.exec(name)?.[1] ?? [])
  return kids.sort().flatMap((kid) => {
    const file = keyFile(dataDir, kid)
    try {
      const key = readKey(file)
      if (key.kid !== kid)
        throw new OperatorError(
          `${file}: the name is not the id of this key. Delete the file, or name it ${key.kid}.pem.`,
        )
      return [{ ...key, signs: false }]
    } catch (error) {
      // Another process removed the file after this one read the folder.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  })
}

function newKey(): KeyObject {
  // Node 20 can block for ever while it exports a key object that it has generated.
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return createPrivateKey(privateKey)
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Creates the file with a new key, unless the file exists. */
export function createKeyFile(file: string): void {
  writeOnce(file, pemOf(newKey()))
}

function readKey(file: string): Omit<HeldKey, 'signs'> {
  const { text, since } = readPrivate(file)
  const privateKey = parse(file, text)
  return { kid: kidOf(privateKey), privateKey, since }
}

function parse(file: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    // The error below replaces OpenSSL's message, which does not name the file.
  }
  throw new OperatorError(
    `${file}: not a P-256 private key. Delete the file to get a new key; issued tokens then become invalid.`,
  )
}
