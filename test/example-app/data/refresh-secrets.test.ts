import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { refreshSecrets } from '../../../example-app/data/refresh-secrets.js'
import { tempDir } from '../support.js'

let dataDir: string
beforeEach(async () => {
  dataDir = await tempDir()
})

test('a new folder gets a secret that only its owner can read, the same for every process', () => {
  const [secret = ''] = refreshSecrets(dataDir)
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
  expect(refreshSecrets(dataDir)).toEqual([secret])
  expect(readdirSync(dataDir)).toEqual(['refresh-secret'])
  expect(statSync(join(dataDir, 'refresh-secret')).mode & 0o777).toBe(0o600)
})

test('a file with two lines has two secrets, and a short one is named and not shown', () => {
  const [renewed, old] = ['secret-n'.repeat(4), 'secret-o'.repeat(5)]
  const write = (text: string) => writeFileSync(join(dataDir, 'refresh-secret'), text, { mode: 0o600 })
  write(`${renewed}\n${old}\n`)
  expect(refreshSecrets(dataDir)).toEqual([renewed, old])
  for (const text of ['', `${renewed}\nshort`]) {
    write(text)
    expect(() => refreshSecrets(dataDir)).toThrow(
      /^\S+refresh-secret: a secret needs at least 32 characters\. (?!.*short).+$/,
    )
  }
})
