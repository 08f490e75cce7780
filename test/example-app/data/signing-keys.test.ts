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
import { tempDir } from '../support.js'

const FILE = 'signing-key.pem'

test('makes a key that the package takes, in a file that nobody else can read', async () => {
  const dataDir = join(await tempDir(), 'data')
  const keys = signingKey(dataDir)
  expect(createTokenIssuer({ issuer: 'http://localhost', keys }).jwks().keys).toMatchObject([{ alg: 'ES256' }])
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
  expect((await stat(join(dataDir, FILE))).mode & 0o777).toBe(0o600)
  expect(await readdir(dataDir)).toEqual(['keys', FILE])
  expect((await stat(join(dataDir, 'keys'))).mode & 0o777).toBe(0o700)
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

describe('more than one key', () => {
  const issuerOf = (dataDir: string) => createTokenIssuer({ issuer: 'http://localhost', keys: tokenKeys(dataDir) })
  const states = (dataDir: string) => listKeys(dataDir).map(({ kid, signs }) => [kid, signs])
  const kidOfSigning = (dataDir: string) => signingKey(dataDir).kid ?? ''
  /** The kid in a new token's header. */
  const signs = (dataDir: string) => {
    const [header = ''] = issuerOf(dataDir).issue({ accountId: 'acc-1' }).token.split('.')
    return JSON.parse(Buffer.from(header, 'base64url').toString()).kid
  }

  test('the id is the one that the package would give the key', async () => {
    const dataDir = await tempDir()
    const { privateKey } = signingKey(dataDir)
    const issuer = createTokenIssuer({ issuer: 'http://localhost', keys: { alg: 'ES256', privateKey } })
    expect(issuer.jwks().keys[0]?.kid).toBe(kidOfSigning(dataDir))
  })

  test('an added one is shown and verifies, but does not sign', async () => {
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

  test('the issuer gets the private half of the one that signs alone', async () => {
    const dataDir = await tempDir()
    addKey(dataDir)
    promoteKey(dataDir, addKey(dataDir))
    const [first, ...others] = tokenKeys(dataDir)
    expect(first).toHaveProperty('privateKey')
    expect(others).toHaveLength(2)
    for (const key of others) expect(key).toMatchObject({ publicKey: expect.objectContaining({ type: 'public' }) })
  })

  test('a promoted one signs, and the one before it verifies', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    const { token } = issuerOf(dataDir).issue({ accountId: 'acc-1' })
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

  test('a removed one is gone; its tokens are refused', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    const { token } = issuerOf(dataDir).issue({ accountId: 'acc-1' })
    const added = addKey(dataDir)
    promoteKey(dataDir, added)
    removeKey(dataDir, first)
    expect(states(dataDir)).toEqual([[added, true]])
    await expect(issuerOf(dataDir).verify(token)).rejects.toMatchObject({ reason: 'unknown_key' })
  })

  test('the one that signs is not removed, in whichever files it is', async () => {
    const dataDir = await tempDir()
    const first = kidOfSigning(dataDir)
    expect(() => removeKey(dataDir, first)).toThrow(/ signs\. Promote another key first\.$/)
    const added = addKey(dataDir)
    promoteKey(dataDir, added)
    expect(() => removeKey(dataDir, added)).toThrow(/ signs\./)
    expect(signs(dataDir)).toBe(added)
    expect(await readdir(join(dataDir, 'keys'))).toHaveLength(2)
  })

  test.each(['no-such-key', '../signing-key', '', 'x'.repeat(43)])('there is no key "%s"', async (kid) => {
    const dataDir = await tempDir()
    addKey(dataDir)
    const before = states(dataDir)
    expect(() => promoteKey(dataDir, kid)).toThrow(/^There is no key /)
    expect(() => removeKey(dataDir, kid)).toThrow(/^There is no key /)
    expect(states(dataDir)).toEqual(before)
  })

  test('what a crash left in the folder is no key; a file of mode 644, or by a wrong name, is refused', async () => {
    const dataDir = await tempDir()
    const added = addKey(dataDir)
    const file = join(dataDir, 'keys', `${added}.pem`)
    await writeFile(`${file}.8c6e`, 'half a k', { mode: 0o600 })
    expect(listKeys(dataDir)).toHaveLength(2)
    const misnamed = join(dataDir, 'keys', `${'x'.repeat(43)}.pem`)
    await writeFile(misnamed, await readFile(file), { mode: 0o600 })
    expect(() => tokenKeys(dataDir)).toThrow(/x\.pem: holds another key than its name says$/)
    await rm(misnamed)
    await chmod(file, 0o644)
    expect(() => tokenKeys(dataDir)).toThrow(/others can read this key/)
  })
})
