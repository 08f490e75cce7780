import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTokenIssuer } from 'express-token-endpoint'
import { beforeEach, describe, expect, test } from 'vitest'
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
const mode = async (...path: string[]) => (await stat(join(...path))).mode & 0o777
let dataDir: string
beforeEach(async () => {
  dataDir = await tempDir()
})

test('creates a key in a file that no other user can read, once', async () => {
  const folder = join(dataDir, 'data')
  const key = signingKey(folder).privateKey as KeyObject
  expect(await readdir(folder)).toEqual(['keys', FILE])
  expect([await mode(folder), await mode(folder, 'keys'), await mode(folder, FILE)]).toEqual([0o700, 0o700, 0o600])
  expect(key.equals(signingKey(folder).privateKey as KeyObject)).toBe(true)
  // Another process was faster.
  createKeyFile(join(folder, FILE))
  expect(key.equals(signingKey(folder).privateKey as KeyObject)).toBe(true)
  expect(await readdir(folder)).toEqual(['keys', FILE])
  expect(key.equals(signingKey(dataDir).privateKey as KeyObject)).toBe(false)
})

test.each([0o640, 0o604, 0o620, 0o602, 0o610])('refuses a file of mode %o', async (mode) => {
  signingKey(dataDir)
  await chmod(join(dataDir, FILE), mode)
  expect(() => signingKey(dataDir)).toThrow(/^\S+signing-key\.pem: other users can read .+chmod 600/)
})

const pem = (key: KeyObject) => key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' })
const p256 = newKeyPair('ec', { namedCurve: 'P-256' })

test.each([
  ['nothing', ''],
  ['half a key', pem(p256.privateKey).slice(0, 100)],
  ['a public key', pem(p256.publicKey)],
  ['a key on another curve', pem(newKeyPair('ec', { namedCurve: 'P-384' }).privateKey)],
  ['a key of another kind', pem(generateKeyPairSync('ed25519').privateKey)],
])('refuses a file with %s', async (_what, content) => {
  await writeFile(join(dataDir, FILE), content, { mode: 0o600 })
  expect(() => signingKey(dataDir)).toThrow(/^\S+signing-key\.pem: not a P-256 private key\. .+$/)
})

describe('several keys', () => {
  const states = () => listKeys(dataDir).map(({ kid, signs }) => [kid, signs])
  const issuer = () => createTokenIssuer({ issuer: 'http://localhost', keys: tokenKeys(dataDir) })
  const issue = () => issueNow(issuer(), { accountId: 'acc-1' }).token
  const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
  const published = () => issuer().jwks().keys

  test('the id is the thumbprint that the package computes', () => {
    const { privateKey, kid } = signingKey(dataDir)
    const own = createTokenIssuer({ issuer: 'http://localhost', keys: { alg: 'ES256', privateKey } })
    expect(own.jwks().keys).toMatchObject([{ kid, alg: 'ES256' }])
  })

  test('an added key verifies, a promoted key signs, and the tokens of a removed key are refused', async () => {
    const { kid: first = '' } = signingKey(dataDir)
    const token = issue()
    const added = addKey(dataDir)
    expect(states()).toEqual([
      [first, true],
      [added, false],
    ])
    expect(published().map(({ kid }) => kid)).toEqual([first, added])
    expect(kidOf(issue())).toBe(first)
    expect(await mode(dataDir, 'keys', `${added}.pem`)).toBe(0o600)

    promoteKey(dataDir, added)
    expect(states()).toEqual([
      [added, true],
      [first, false],
    ])
    expect(kidOf(issue())).toBe(added)
    expect(await issuer().verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect(await mode(dataDir, FILE)).toBe(0o600)
    // The issuer gets the private key of the signing key only.
    const [signing, ...others] = tokenKeys(dataDir)
    expect(signing).toHaveProperty('privateKey')
    expect(others).toMatchObject([{ publicKey: { type: 'public' } }])
    expect(others[0]).not.toHaveProperty('privateKey')

    promoteKey(dataDir, first)
    expect(kidOf(issue())).toBe(first)
    promoteKey(dataDir, added)
    removeKey(dataDir, first)
    expect(states()).toEqual([[added, true]])
    await expect(issuer().verify(token)).rejects.toMatchObject({ reason: 'unknown_key' })
    // After a promotion, the signing key is also in the folder.
    expect(() => removeKey(dataDir, added)).toThrow(/ is the signing key\. Promote another key first\.$/)
    expect(kidOf(issue())).toBe(added)
  })

  test.each(['no-such-key', '../signing-key', '', 'x'.repeat(43)])('refuses the unknown key "%s"', (kid) => {
    addKey(dataDir)
    const before = states()
    expect(() => promoteKey(dataDir, kid)).toThrow(/^No key has the id /)
    expect(() => removeKey(dataDir, kid)).toThrow(/^No key has the id /)
    expect(states()).toEqual(before)
  })

  test('ignores a draft that a crash left, and refuses a file with mode 644 or a wrong name', async () => {
    const file = join(dataDir, 'keys', `${addKey(dataDir)}.pem`)
    await writeFile(`${file}.8c6e`, 'half a k', { mode: 0o600 })
    expect(states()).toHaveLength(2)
    const misnamed = join(dataDir, 'keys', `${'x'.repeat(43)}.pem`)
    await writeFile(misnamed, await readFile(file), { mode: 0o600 })
    expect(() => tokenKeys(dataDir)).toThrow(/x\.pem: the name is not the id of this key\. .+\.pem\.$/)
    await rm(misnamed)
    await chmod(file, 0o644)
    expect(() => tokenKeys(dataDir)).toThrow(/other users can read/)
  })
})
