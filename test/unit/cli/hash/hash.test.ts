// Tests cli/hash/password-input.ts

import { PassThrough } from 'node:stream'
import { createPasswords } from 'express-token-endpoint'
import { describe, expect, test } from 'vitest'
import { readNewPassword, readPassword } from '../../../../src/cli/hash/password-input.js'
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
  expect(stderr).toMatch(
    /^express-token-endpoint: This password cannot be used\. Choose a password of at most 72 bytes.+\n$/,
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

describe('the password', () => {
  /** Creates a terminal whose user replies to each question. */
  function terminal(answers: readonly string[], read = readNewPassword) {
    const modes: boolean[] = []
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) })
    const output = new PassThrough().setEncoding('utf8')
    const left = [...answers]
    const rawAtQuestion: (boolean | undefined)[] = []
    let shown = ''
    output.on('data', (text: string) => {
      shown += text
      if (!text.endsWith(': ')) return
      rawAtQuestion.push(modes.at(-1))
      input.write(left.shift() ?? '')
    })
    const result = read(input, output)
    return { result, shown: () => shown, modes, rawAtQuestion }
  }

  /** Standard input that is a pipe. */
  const pipe = (content: string | Uint8Array) => readNewPassword(new PassThrough().end(content), new PassThrough())

  const PASSWORD = 'correct horse'

  test('asks twice for a new one, and shows nothing of it', async () => {
    const { result, shown, modes, rawAtQuestion } = terminal([`${PASSWORD}\r`, `${PASSWORD}\r`])
    expect(await result).toBe(PASSWORD)
    expect(shown()).toBe('Password: \nRepeat the password: \n')
    expect(rawAtQuestion).toEqual([true, true])
    expect(modes).toEqual([true, false])
  })

  test('asks once for one that exists', async () => {
    const { result, shown, modes } = terminal([`${PASSWORD}\r`], readPassword)
    expect(await result).toBe(PASSWORD)
    expect(shown()).toBe('Password: \n')
    expect(modes).toEqual([true, false])
  })

  test.each([
    ['two lines that are pasted at once', [`${PASSWORD}\r${PASSWORD}\r`]],
    ['one and a half', [`${PASSWORD}\rcorrect`, ' horse\r']],
  ])('takes %s', async (_what, answers) => {
    expect(await terminal(answers).result).toBe(PASSWORD)
  })

  test('keeps the spaces, and takes corrections', async () => {
    const { result } = terminal([' spaced  oux\u007ft \r', ' spaced  out \r'])
    expect(await result).toBe(' spaced  out ')
  })

  test.each([
    [
      'two different ones',
      [`${PASSWORD}\r`, 'correct hearse\r'],
      'The two passwords do not match. Run the command again',
    ],
    ['Ctrl-C', ['corr\u0003'], 'Cancelled'],
    ['Ctrl-C at the second', [`${PASSWORD}\r`, '\u0003'], 'Cancelled'],
    ['Ctrl-D', ['\u0004'], 'Cancelled'],
    ['nothing', ['\r', '\r'], 'The password is empty. Enter a password'],
  ])('refuses %s, and gives the terminal back', async (_what, answers, says) => {
    const { result, modes } = terminal(answers)
    await expect(result).rejects.toThrow(says)
    expect(modes.at(-1)).toBe(false)
  })

  test.each([
    ['a line', `${PASSWORD}\n`, PASSWORD],
    ['a line of DOS', `${PASSWORD}\r\n`, PASSWORD],
    ['no end of line', PASSWORD, PASSWORD],
    ['a byte order mark', '\ufeff12345678', '\ufeff12345678'],
    ['as much as a login can hold', 'x'.repeat(10_240), 'x'.repeat(10_240)],
  ])('takes %s from a pipe', async (_what, content, password) => {
    expect(await pipe(content)).toBe(password)
  })

  test('takes a character that comes in two pieces', async () => {
    const [key, input] = [Buffer.from('🔑'), new PassThrough()]
    const password = readPassword(input, new PassThrough())
    input.write(key.subarray(0, 2))
    input.end(key.subarray(2))
    expect(await password).toBe('🔑')
  })

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'The password is empty. Enter a password'],
    ['too much', 'x'.repeat(10_241), 'Standard input is too long'],
    ['two lines', 'first line\nsecond line\n', 'only the password, on one line'],
    ['an empty line behind it', `${PASSWORD}\n\n`, 'only the password, on one line'],
    ['no UTF-8', new Uint8Array(9).fill(0xff), 'not UTF-8'],
  ])('refuses %s from a pipe', async (_what, content, says) => {
    await expect(pipe(content)).rejects.toThrow(says)
  })
})
