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
import { issueNow } from '../../support/fixtures.js'
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
  const issuerOf = (dataDir: string) => createTokenIssuer({ issuer: 'http://localhost', keys: tokenKeys(dataDir) })
  const states = (dataDir: string) => listKeys(dataDir).map(({ kid, signs }) => [kid, signs])
  const kidOfSigning = (dataDir: string) => signingKey(dataDir).kid ?? ''
  /** The kid in a new token's header. */
  const signs = (dataDir: string) => {
    const [header = ''] = issueNow(issuerOf(dataDir), { accountId: 'acc-1' }).token.split('.')
    return JSON.parse(Buffer.from(header, 'base64url').toString()).kid
  }

  test('the id is the thumbprint that the package computes', async () => {
    const dataDir = await tempDir()
    const { privateKey } = signingKey(dataDir)
    const issuer = createTokenIssuer({ issuer: 'http://localhost', keys: { alg: 'ES256', privateKey } })
    expect(issuer.jwks().keys[0]?.kid).toBe(kidOfSigning(dataDir))
  })

  test('an added key is listed and verifies, and does not sign', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    const added = addKey(dataDir)
    expect(states(dataDir)).toEqual([
      [first, true],
      [added, false],
    ])
    expect(
      issuerOf(dataDir)
        .jwks()
        .keys.map(({ kid }) => kid),
    ).toEqual([first, added])
    expect(signs(dataDir)).toBe(first)
    expect((await stat(join(dataDir, 'keys', `${added}.pem`))).mode & 0o777).toBe(0o600)
  })

  test('the issuer gets the private key of the signing key only', async () => {
    const dataDir = await tempDir()
    addKey(dataDir)
    promoteKey(dataDir, addKey(dataDir))
    const [first, ...others] = tokenKeys(dataDir)
    expect(first).toHaveProperty('privateKey')
    expect(others).toHaveLength(2)
    for (const key of others) expect(key).toMatchObject({ publicKey: expect.objectContaining({ type: 'public' }) })
  })

  test('a promoted key signs, and the previous signing key verifies', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    const { token } = issueNow(issuerOf(dataDir), { accountId: 'acc-1' })
    const added = addKey(dataDir)
    promoteKey(dataDir, added)
    expect(states(dataDir)).toEqual([
      [added, true],
      [first, false],
    ])
    expect(signs(dataDir)).toBe(added)
    expect(await issuerOf(dataDir).verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect((await stat(join(dataDir, FILE))).mode & 0o777).toBe(0o600)
    promoteKey(dataDir, added)
    promoteKey(dataDir, first)
    expect(signs(dataDir)).toBe(first)
    expect(listKeys(dataDir)).toHaveLength(2)
  })

  test('the tokens of a removed key are refused', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    const { token } = issueNow(issuerOf(dataDir), { accountId: 'acc-1' })
    const added = addKey(dataDir)
    promoteKey(dataDir, added)
    removeKey(dataDir, first)
    expect(states(dataDir)).toEqual([[added, true]])
    await expect(issuerOf(dataDir).verify(token)).rejects.toMatchObject({ reason: 'unknown_key' })
  })

  test('refuses to remove the signing key', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    expect(() => removeKey(dataDir, first)).toThrow(/ is the signing key\. Promote another key first\.$/)
    const added = addKey(dataDir)
    promoteKey(dataDir, added)
    expect(() => removeKey(dataDir, added)).toThrow(/ is the signing key\./)
    expect(signs(dataDir)).toBe(added)
    expect(await readdir(join(dataDir, 'keys'))).toHaveLength(2)
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
