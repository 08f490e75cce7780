import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTokenIssuer } from 'express-token-endpoint'
import { expect, test } from 'vitest'
import { createKeyFile, signingKey } from '../../example-app/keys.js'
import { tempDir } from './support.js'

const FILE = 'signing-key.pem'

test('makes a key that the package takes, in a file that nobody else can read', async () => {
  const dataDir = join(await tempDir(), 'data')
  const keys = signingKey(dataDir)
  expect(createTokenIssuer({ issuer: 'http://localhost', keys }).jwks().keys).toMatchObject([{ alg: 'ES256' }])
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
  expect((await stat(join(dataDir, FILE))).mode & 0o777).toBe(0o600)
  expect(await readdir(dataDir)).toEqual([FILE])
})

test('keeps the key', async () => {
  const dataDir = await tempDir()
  const first = signingKey(dataDir).privateKey as KeyObject
  expect(first.equals(signingKey(dataDir).privateKey as KeyObject)).toBe(true)
  expect(first.equals(signingKey(await tempDir()).privateKey as KeyObject)).toBe(false)
})

test('leaves the key of a process that was faster', async () => {
  const dataDir = await tempDir()
  const file = join(dataDir, FILE)
  createKeyFile(file)
  const first = await readFile(file, 'utf8')
  createKeyFile(file)
  expect(await readFile(file, 'utf8')).toBe(first)
  expect(await readdir(dataDir)).toEqual([FILE])
})

test.each([0o644, 0o640, 0o604, 0o620, 0o602, 0o610])('refuses a file of mode %o', async (mode) => {
  const dataDir = await tempDir()
  signingKey(dataDir)
  await chmod(join(dataDir, FILE), mode)
  expect(() => signingKey(dataDir)).toThrow(/^\S+signing-key\.pem: others can read this key .+chmod 600/)
})

const pem = (key: KeyObject) => key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })

test.each([
  ['nothing', ''],
  ['no PEM', 'not a key'],
  ['half a key', pem(p256.privateKey).slice(0, 100)],
  ['a public key', pem(p256.publicKey)],
  ['a key on another curve', pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey)],
  ['a key of another kind', pem(generateKeyPairSync('ed25519').privateKey)],
])('refuses a file that holds %s', async (_what, content) => {
  const dataDir = await tempDir()
  await writeFile(join(dataDir, FILE), content, { mode: 0o600 })
  expect(() => signingKey(dataDir)).toThrow(/^\S+signing-key\.pem: holds no P-256 private key\..+$/)
})
