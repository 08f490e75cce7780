// Tests cli/keygen/{key-files,keygen,new-key}.ts

import { createPrivateKey } from 'node:crypto'
import fs, {
  chmodSync,
  createWriteStream,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Algorithm, createTokenIssuer, createTokenVerifier } from 'express-token-endpoint'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { publicPath } from '../../../src/cli/keygen/key-files.js'
import { main } from '../../../src/cli/main.js'
import { cli } from '../../support/cli.js'
import { ALGORITHMS, ISSUER } from '../../support/fixtures.js'
import { headerOf, someToken } from '../../support/tokens.js'

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'keygen-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

const modeOf = (file: string) => statSync(file).mode & 0o777
const read = (file: string) => readFileSync(file, 'utf8')
const pairs = ALGORITHMS.filter((alg) => !alg.startsWith('HS'))
const secrets = ALGORITHMS.filter((alg) => alg.startsWith('HS'))

/** Passes the text of a key file to the package, as a host does. */
const keyOf = (alg: Algorithm, field: 'secret' | 'privateKey' | 'publicKey', text: string) =>
  ({ alg, [field]: text.startsWith('{') ? JSON.parse(text) : text }) as never

const kidIn = (stderr: string) => /, kid (\S+)\n$/.exec(stderr)?.[1]

describe('what it makes is taken as it is', () => {
  test.each(pairs.flatMap((alg) => [[alg, 'pem'] as const, [alg, 'jwk'] as const]))('%s, %s', async (alg, format) => {
    const [out, shown] = [join(tempDir(), 'key'), join(tempDir(), 'public')]
    // An RSA key of the default size takes a second to find.
    const size = /^[RP]S/.test(alg) ? ['--bits', '2048'] : []
    const ran = await cli(['keygen', '--alg', alg, ...size, '--format', format, '--out', out, '--public', shown])
    expect(ran).toMatchObject({ code: 0, stdout: '' })
    const issuer = createTokenIssuer({ issuer: ISSUER, keys: keyOf(alg, 'privateKey', read(out)) })
    const keys = keyOf(alg, 'publicKey', read(shown))
    const token = someToken(issuer)
    expect(await createTokenVerifier({ issuer: ISSUER, keys }).verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect(headerOf(token)).toMatchObject({ alg, kid: kidIn(ran.stderr) })
    expect(issuer.jwks().keys[0]?.kid).toBe(kidIn(ran.stderr))
    expect(read(shown)).not.toMatch(/PRIVATE|"(d|p|q|dp|dq|qi)"/)
    if (format === 'jwk') {
      expect(JSON.parse(read(out))).toMatchObject({ alg, use: 'sig', kid: kidIn(ran.stderr) })
      expect(JSON.parse(read(shown))).toEqual(issuer.jwks().keys[0])
    }
  })

  test.each(secrets)('%s', async (alg) => {
    const out = join(tempDir(), 'secret')
    const { stderr } = await cli(['keygen', '--alg', alg, '--out', out])
    const issuer = createTokenIssuer({ issuer: ISSUER, keys: keyOf(alg, 'secret', read(out)) })
    const token = someToken(issuer)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect(headerOf(token)).toMatchObject({ alg, kid: kidIn(stderr) })
    // As many random bytes as its hash has, and no end of line, which a host would take for a part of it.
    expect(Buffer.from(read(out), 'base64url')).toHaveLength(Number(alg.slice(2)) / 8)
    expect(read(out)).toMatch(/^[\w-]+$/)
  })
})

test('without options it is ES256, in PEM', async () => {
  const { code, stdout, stderr } = await cli(['keygen'])
  expect(code).toBe(0)
  expect(stderr).toMatch(/^ES256, kid [\w-]{43}\n$/)
  expect(createPrivateKey(stdout).asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' })
})

test.each([
  [[], 3072],
  [['--bits', '2048'], 2048],
])('RSA %j has %i bits', async (more, bits) => {
  const { stdout } = await cli(['keygen', '--alg', 'PS256', ...more])
  expect(createPrivateKey(stdout).asymmetricKeyDetails).toMatchObject({ modulusLength: bits, publicExponent: 65_537n })
})

test('two keys are two keys, and an algorithm may be written in small letters', async () => {
  const [one, two] = [await cli(['keygen', '--alg', 'HS256']), await cli(['keygen', '--alg', 'hs256'])]
  expect(two.stderr).toMatch(/^HS256, kid /)
  expect(one.stdout).not.toBe(two.stdout)
})

test('the key is for its owner alone, and the public key lies beside it for everyone', async () => {
  const dir = tempDir()
  const { stderr } = await cli(['keygen', '--out', join(dir, 'key.pem')])
  expect(readdirSync(dir).sort()).toEqual(['key.pem', 'key.pub.pem'])
  expect(modeOf(join(dir, 'key.pem'))).toBe(0o600)
  expect(modeOf(join(dir, 'key.pub.pem'))).toBe(0o644 & ~process.umask())
  expect(stderr).toContain(`${join(dir, 'key.pem')}: keep this file secret\n`)
  expect(stderr).not.toContain('BEGIN')
})

test.each([
  ['key.pem', 'key.pub.pem'],
  ['/a/key.json', '/a/key.pub.json'],
  ['./key', 'key.pub'],
  ['/key', '/key.pub'],
])('beside %s lies %s', (out, shown) => {
  expect(publicPath(out).replace(/^\.\//, '')).toBe(shown)
})

test.each(['key.pem', 'key.pub.pem'])('no file is written over: %s', async (name) => {
  const dir = tempDir()
  writeFileSync(join(dir, name), 'precious')
  const said = `${join(dir, name)} already exists. Choose a different name, or move the file`
  const ran = await cli(['keygen', '--out', join(dir, 'key.pem')])
  expect(ran).toEqual({ code: 1, stdout: '', stderr: `express-token-endpoint: ${said}\n` })
  // One file of a pair is useless, so none is left.
  expect(readdirSync(dir)).toEqual([name])
  expect(read(join(dir, name))).toBe('precious')
})

test.each([1, 2])('of a disk that is full at file %i nothing is left behind', async (at) => {
  const dir = tempDir()
  const { writeSync } = fs
  const write = vi.spyOn(fs, 'writeSync')
  onTestFinished(() => write.mockRestore())
  if (at === 2) write.mockImplementationOnce(writeSync)
  write.mockImplementationOnce(() => {
    throw new Error('ENOSPC: no space left on device, write')
  })
  const ran = await cli(['keygen', '--out', join(dir, 'key.pem')])
  const stderr = 'express-token-endpoint: ENOSPC: no space left on device, write\n'
  expect(ran).toEqual({ code: 1, stdout: '', stderr })
  expect(readdirSync(dir)).toEqual([])
})

describe('when standard output is a file', () => {
  /** Runs `keygen` as a shell does with `keygen > key.pem`. */
  async function keygenInto(mode: number, ...more: string[]) {
    const file = join(tempDir(), 'key.pem')
    writeFileSync(file, '')
    chmodSync(file, mode)
    const stdout = createWriteStream(file, { fd: openSync(file, 'a') })
    const [stdin, stderr] = [new PassThrough().end(), new PassThrough()]
    const code = await main(['keygen', ...more], { env: {}, stdin, stdout, stderr })
    stderr.end()
    await new Promise((resolve) => stdout.end(resolve))
    return { code, stderr: await text(stderr), written: read(file) }
  }

  test.each(['644', '640', '604', '620'])(
    'a file of mode %s gets no key, and the message names --out',
    async (digits) => {
      const mode = Number.parseInt(digits, 8)
      const message =
        'Standard output goes to a file that other users can access. Pass --out with a new file, or run chmod 600 on the file first'
      expect(await keygenInto(mode)).toEqual({ code: 2, stderr: `express-token-endpoint: ${message}\n`, written: '' })
      expect(await keygenInto(mode, '--alg', 'HS256')).toMatchObject({ code: 2, written: '' })
    },
  )

  test('a file of mode 600 gets the key', async () => {
    const { code, written } = await keygenInto(0o600)
    expect(code).toBe(0)
    expect(createPrivateKey(written).asymmetricKeyType).toBe('ec')
  })

  test('with --out, the file of standard output may have any mode, because it gets no key', async () => {
    const out = join(tempDir(), 'other.pem')
    expect(await keygenInto(0o644, '--out', out)).toMatchObject({ code: 0, written: '' })
    expect(modeOf(out)).toBe(0o600)
  })
})

test('a folder that is not there is told in one line', async () => {
  const stderr =
    'express-token-endpoint: Cannot write /nowhere/key.pem, because its folder does not exist. Create the folder first\n'
  expect(await cli(['keygen', '--out', '/nowhere/key.pem'])).toEqual({ code: 1, stdout: '', stderr })
})
