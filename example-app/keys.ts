import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PrivateTokenKey } from 'express-token-endpoint'
import { Failure } from './failure.js'

/**
 * The key that signs the tokens; made at the first start, and kept in the data folder.
 * @throws Failure when others could read the file, or it holds no such key
 */
export function signingKey(dataDir: string): PrivateTokenKey {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'signing-key.pem')
  if (!existsSync(file)) createKeyFile(file)
  return { alg: 'ES256', privateKey: parse(file, readPrivate(file)) }
}

/**
 * Makes the file, unless it is there by now. It is written whole under another name first: neither a crash nor a second
 * process ever leaves or sees half a key.
 */
export function createKeyFile(file: string): void {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const draft = `${file}.${randomUUID()}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(handle, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    fsyncSync(handle)
    linkSync(draft, file)
  } catch (error) {
    // Another process was first: its key is the one.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(handle)
    rmSync(draft)
  }
}

function readPrivate(file: string): string {
  const handle = openSync(file, 'r')
  try {
    // Windows has no such bits.
    if (process.platform !== 'win32' && fstatSync(handle).mode & 0o077) {
      throw new Failure(`${file}: others can read this key or change it. If nobody has: chmod 600; else delete it`)
    }
    return readFileSync(handle, 'utf8')
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
