import { createPasswords } from 'express-token-endpoint'
import { expect, test } from 'vitest'
import { cli } from '../../../support/cli.js'

const passwords = createPasswords()
const matches = (password: string, { stdout }: { stdout: string }) => passwords.verify(password, stdout.trimEnd())

test('an argon2id hash that the package takes', async () => {
  const ran = await cli(['hash'], { input: 'correct horse\n' })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^\n]+\n$/)
  expect(await matches('correct horse', ran)).toBe(true)
  expect(await matches('correct horse\n', ran)).toBe(false)
  expect(passwords.needsRehash(ran.stdout.trimEnd())).toBe(false)
})

test('a bcrypt hash that the package takes', async () => {
  const ran = await cli(['hash', '--bcrypt'], { input: 'correct horse' })
  expect(ran.stdout).toMatch(/^\$2b\$12\$.{53}\n$/)
  expect(await matches('correct horse', ran)).toBe(true)
})

test('a password that bcrypt would cut is refused', async () => {
  const { code, stdout, stderr } = await cli(['hash', '--bcrypt'], { input: 'x'.repeat(73) })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toBe(
    'express-token-endpoint: bcrypt takes at most 72 bytes and no NUL. Use argon2id(), which has no such limits\n',
  )
})

test('--min-length counts characters', async () => {
  expect(await cli(['hash', '--min-length', '8'], { input: '1234567🔑' })).toMatchObject({ code: 0 })
  expect(await cli(['hash', '--min-length', '8'], { input: '123456🔑' })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'express-token-endpoint: The password must have at least 8 characters, but has 7\n',
  })
})
