import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PrivateTokenKey, PublicTokenKey } from 'express-token-endpoint'
import { Failure } from '../failure.js'

/**
 * The data folder holds the key that signs as `signing-key.pem`, and those that verify as `keys/KID.pem`. A key that signs
 * may be among these too; one that signed no longer always is, before another takes its place: whoever reads the first file
 * first, and then the folder, misses no key, at whatever moment.
 */
export interface HeldKey {
  kid: string
  signs: boolean
  /** Since when it is what it is. */
  since: Date
  privateKey: KeyObject
}

/**
 * What the issuer is to be given: the key that signs, made at the first start, and the public halves of all others.
 * @throws Failure when others could read a file, or it holds no such key
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

/** The key that signs the tokens; made at the first start. */
export function signingKey(dataDir: string): PrivateTokenKey {
  const { kid, privateKey } = readSigningKey(dataDir)
  return { alg: 'ES256', kid, privateKey }
}

/** Whether there ever was a start with this folder. */
export function hasKeys(dataDir: string): boolean {
  return existsSync(signingKeyFile(dataDir))
}

/** All keys, the one that signs first. */
export function listKeys(dataDir: string): HeldKey[] {
  const first = readSigningKey(dataDir)
  return [first, ...verifyingKeys(dataDir).filter(({ kid }) => kid !== first.kid)]
}

/** @returns the id of a new key, which verifies and does not sign */
export function addKey(dataDir: string): string {
  readSigningKey(dataDir)
  const privateKey = newKey()
  const kid = kidOf(privateKey)
  writeOnce(keyFile(dataDir, kid), pemOf(privateKey))
  return kid
}

/**
 * Lets a key sign, and the one that signed until now verify.
 * @throws Failure when there is no such key
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

/** @throws Failure when it signs, or there is no such key */
export function removeKey(dataDir: string, kid: string): void {
  if (readSigningKey(dataDir).kid === kid) throw new Failure(`${kid} signs. Promote another key first.`)
  if (!verifyingKeys(dataDir).some((key) => key.kid === kid)) throw unknown(kid)
  rmSync(keyFile(dataDir, kid))
}

/** RFC 7638: the members of the public key in this order, without spaces. */
function kidOf(key: KeyObject): string {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}

const signingKeyFile = (dataDir: string) => join(dataDir, 'signing-key.pem')
const keyFile = (dataDir: string, kid: string) => join(dataDir, 'keys', `${kid}.pem`)

function unknown(kid: string): Failure {
  return new Failure(`There is no key ${kid}. All keys: npm run keys -- list`)
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
      if (key.kid !== kid) throw new Failure(`${file}: holds another key than its name says`)
      return [{ ...key, signs: false }]
    } catch (error) {
      // Removed since the folder was read.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  })
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Makes the file with a new key, unless it is there by now. */
export function createKeyFile(file: string): void {
  writeOnce(file, pemOf(newKey()))
}

/** Makes a file, unless it is there by now: then another process was first, and its file is the one. */
function writeOnce(file: string, pem: string): void {
  withDraft(file, pem, (draft) => {
    try {
      linkSync(draft, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  })
}

/** Written whole under another name first: neither a crash nor a second process ever leaves or sees half a key. */
function withDraft(file: string, pem: string, use: (draft: string) => void): void {
  const draft = `${file}.${randomUUID()}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(handle, pem)
    fsyncSync(handle)
    use(draft)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

function readKey(file: string): Omit<HeldKey, 'signs'> {
  const { pem, since } = readPrivate(file)
  const privateKey = parse(file, pem)
  return { kid: kidOf(privateKey), privateKey, since }
}

function readPrivate(file: string): { pem: string; since: Date } {
  const handle = openSync(file, 'r')
  try {
    const { mode, mtime } = fstatSync(handle)
    // Windows has no such bits.
    if (process.platform !== 'win32' && mode & 0o077) {
      throw new Failure(`${file}: others can read this key or change it. If nobody has: chmod 600; else delete it`)
    }
    return { pem: readFileSync(handle, 'utf8'), since: mtime }
  } finally {
    closeSync(handle)
  }
}

function parse(file: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    // Said below; OpenSSL's own words help nobody.
  }
  throw new Failure(`${file}: holds no P-256 private key. Delete it for a new one; tokens issued so far then end`)
}
