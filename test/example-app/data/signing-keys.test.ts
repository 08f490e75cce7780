import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTokenIssuer } from 'express-token-endpoint'
import { describe, expect, test } from 'vitest'
import {
  addKey,
  createKeyFile,
  listKeys,
  promoteKey,
  removeKey,
  signingKey,
  tokenKeys,
} from '../../../example-app/data/signing-keys.js'
import { newKeyPair } from '../../../src/tokens/algorithms/new-key-pair.js'
import { tempDir } from '../support.js'

const FILE = 'signing-key.pem'

test('creates a key for the package, in a file that no other user can read', async () => {
  const dataDir = join(await tempDir(), 'data')
  const keys = signingKey(dataDir)
  expect(createTokenIssuer({ issuer: 'http://localhost', keys }).jwks().keys).toMatchObject([{ alg: 'ES256' }])
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
  expect((await stat(join(dataDir, FILE))).mode & 0o777).toBe(0o600)
  expect(await readdir(dataDir)).toEqual(['keys', FILE])
  expect((await stat(join(dataDir, 'keys'))).mode & 0o777).toBe(0o700)
})

test('reads the same key again', async () => {
  const dataDir = await tempDir()
  const first = signingKey(dataDir).privateKey as KeyObject
  expect(first.equals(signingKey(dataDir).privateKey as KeyObject)).toBe(true)
  expect(first.equals(signingKey(await tempDir()).privateKey as KeyObject)).toBe(false)
})

test('keeps the key of a process that was faster', async () => {
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
  expect(() => signingKey(dataDir)).toThrow(/^\S+signing-key\.pem: other users can read .+chmod 600/)
})

const pem = (key: KeyObject) => key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' })
const p256 = newKeyPair('ec', { namedCurve: 'P-256' })

test.each([
  ['nothing', ''],
  ['no PEM', 'not a key'],
  ['half a key', pem(p256.privateKey).slice(0, 100)],
  ['a public key', pem(p256.publicKey)],
  ['a key on another curve', pem(newKeyPair('ec', { namedCurve: 'P-384' }).privateKey)],
  ['a key of another kind', pem(generateKeyPairSync('ed25519').privateKey)],
])('refuses a file with %s', async (_what, content) => {
  const dataDir = await tempDir()
  await writeFile(join(dataDir, FILE), content, { mode: 0o600 })
  expect(() => signingKey(dataDir)).toThrow(/^\S+signing-key\.pem: not a P-256 private key\. .+$/)
})

describe('several keys', () => {
  const states = (dataDir: string) => listKeys(dataDir).map(({ kid, signs }) => [kid, signs])

  test('the issuer gets the private key of the signing key only', async () => {
    const dataDir = await tempDir()
    addKey(dataDir)
    promoteKey(dataDir, addKey(dataDir))
    const [first, ...others] = tokenKeys(dataDir)
    expect(first).toHaveProperty('privateKey')
    expect(others).toHaveLength(2)
    for (const key of others) expect(key).toMatchObject({ publicKey: expect.objectContaining({ type: 'public' }) })
  })

  test.each(['no-such-key', '../signing-key', '', 'x'.repeat(43)])('refuses the unknown key "%s"', async (kid) => {
    const dataDir = await tempDir()
    addKey(dataDir)
    const before = states(dataDir)
    expect(() => promoteKey(dataDir, kid)).toThrow(/^No key has the id /)
    expect(() => removeKey(dataDir, kid)).toThrow(/^No key has the id /)
    expect(states(dataDir)).toEqual(before)
  })

  test('ignores a draft that a crash left, and refuses a file with mode 644 or a wrong name', async () => {
    const dataDir = await tempDir()
    const added = addKey(dataDir)
    const file = join(dataDir, 'keys', `${added}.pem`)
    await writeFile(`${file}.8c6e`, 'half a k', { mode: 0o600 })
    expect(listKeys(dataDir)).toHaveLength(2)
    const misnamed = join(dataDir, 'keys', `${'x'.repeat(43)}.pem`)
    await writeFile(misnamed, await readFile(file), { mode: 0o600 })
    expect(() => tokenKeys(dataDir)).toThrow(/x\.pem: the name is not the id of this key\. .+\.pem\.$/)
    await rm(misnamed)
    await chmod(file, 0o644)
    expect(() => tokenKeys(dataDir)).toThrow(/other users can read/)
  })
})
