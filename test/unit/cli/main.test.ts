// Tests cli/{command,command-error,version}.ts

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cli } from '../../support/cli.js'
import { ALGORITHMS } from '../../support/fixtures.js'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
const SECRET = 'hunter2-hunter2'
const CHECK = ['check', 'http://127.0.0.1:9', '--email', 'a@b.c']

test.each([['--help'], ['-h'], ['help']])('%s names every command', async (flag) => {
  const { code, stdout, stderr } = await cli([flag])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Usage: express-token-endpoint COMMAND \[options\]\n\n {2}keygen .+\n {2}hash .+\n {2}check /)
})

test('--version prints the version of the package', async () => {
  expect(await cli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('without arguments it tells how to use it, as an error', async () => {
  const { code, stdout, stderr } = await cli([])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Usage: /)
})

test.each([
  ['keygen', 'alg format out public bits help'],
  ['hash', 'bcrypt min-length help'],
  ['check', 'email guarded recent path jwks origin other other-email skip timeout max-time plain-http json help'],
])('%s --help has a line for every option', async (command, options) => {
  for (const flag of ['--help', '-h']) {
    const { code, stdout, stderr } = await cli([command, flag])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: express-token-endpoint ${command} `))
    expect([...stdout.matchAll(/^ {2}--([\w-]+)/gm)].map(([, option]) => option).join(' ')).toBe(options)
  }
})

const long = (text: string) => `a string of ${text.length} characters`
const EXPOSED = 'http://api.example.com'
const HTTPS = `must be an https: URL, or a URL on this machine, but is ${long(EXPOSED)}. Over http, others on the network can read the password and the token. To allow http, pass --plain-http`
const PATH = 'must be a path below the base URL, like /api/v2013/statements, but is'
const NO_VALUE = '--alg needs a value: --alg ALG'

const NO_COMMAND = 'Unknown command. Commands: keygen, hash, check'
const OPTIONS = 'Known: --alg, --format, --out, --public, --bits, --help'

describe('wrong usage is one line that names the likely mistake, and exit status 2', () => {
  type Row = [string[], string]
  test.each<Row>([
    [['kegen'], 'Unknown command. Did you mean "keygen"?'],
    ...['login', 'constructor', '__proto__'].map((name): Row => [[name], NO_COMMAND]),
    [['keygen', '--algorithm', 'ES256'], 'keygen has no option --algorithm. Did you mean "--alg"?'],
    [['keygen', '--otu', 'x'], 'keygen has no option --otu. Did you mean "--out"?'],
    [['keygen', '-o', 'x'], 'keygen has no option -o. Did you mean "--out"?'],
    ...['--zzz', '--constructor'].map((o): Row => [['keygen', o], `keygen has no option ${o}. ${OPTIONS}`]),
    [['keygen', 'ES256'], 'keygen takes only options. Pass the algorithm as an option: --alg ES256'],
    [['keygen', '--alg', 'EdDSA'], `--alg must be one of ${ALGORITHMS.join(', ')}. Did you mean "Ed25519" (RFC 9864)?`],
    ...[['--alg'], ['--alg='], ['--alg', '--out', 'x']].map((args): Row => [['keygen', ...args], NO_VALUE]),
    [['keygen', '--alg', 'ES256', '--alg', 'ES384'], '--alg is set twice. Set it once'],
    [['keygen', '--format', 'der'], '--format must be one of pem, jwk'],
    [['keygen', '--alg', 'HS256', '--format', 'jwk'], '--format does not apply to HS256. Remove --format'],
    [['keygen', '--alg', 'HS256', '--public', 'x'], '--public does not apply to HS256. Remove --public'],
    [['keygen', '--bits', '4096'], '--bits does not apply to ES256. Remove --bits'],
    ...Object.entries({ 1024: '1024', many: 'NaN' }).map(
      ([bits, shown]): Row => [
        ['keygen', '--alg', 'RS256', '--bits', bits],
        `--bits must be a number of bits, a whole number from 2048 to 16384, but is ${shown}`,
      ],
    ),
    [['hash', '--bcrypt=yes'], '--bcrypt does not take a value. Remove the value'],
    [['check'], 'Pass the base URL of the app: check https://api.example.com --email EMAIL'],
    [['check', 'http://127.0.0.1:9'], 'Pass the email address of an account: --email EMAIL'],
    ...Object.entries({
      'api.example.com': 'Is "https://" missing?',
      'https://a@c.example': 'Remove the user name and the password',
      'https://:b@c.example': 'Remove the user name and the password',
      'https://c.example?x=1': 'Remove the "?" or "#" and the text after it',
      'https://c.example#here': 'Remove the "?" or "#" and the text after it',
    }).map(
      ([url, hint]): Row => [
        ['check', url, '--email', 'a@b.c'],
        `The URL must be an absolute URL without a query, like https://api.example.com, but is ${long(url)}. ${hint}`,
      ],
    ),
    [['check', EXPOSED, '--email', 'a@b.c'], `The URL ${HTTPS}`],
    ...['--other', '--guarded', '--recent'].map((o): Row => [[...CHECK, o, EXPOSED], `${o} ${HTTPS}`]),
    ...['--recent', '--guarded'].map(
      (option): Row => [
        [...CHECK, option, 'v1/password'],
        `${option} ${PATH} ${long('v1/password')}. Begin the path with a slash`,
      ],
    ),
    [[...CHECK, '--path', '/x#y'], `--path ${PATH} ${long('/x#y')}`],
    ...['https://a:b@c.example/x', 'https://a@c.example', 'http://:b@127.0.0.1/x', 'https://c.example/x#y'].map(
      (url): Row => [
        [...CHECK, '--guarded', url],
        `--guarded must be a path, or an absolute URL without a user name, password or fragment, but is ${long(url)}`,
      ],
    ),
    [[...CHECK, '--guarded', '/x', '--guarded', '/x'], '--guarded has the same path twice. Pass every path once'],
    [[...CHECK, '--skip', 'guard'], '--skip does not know the row guard. Did you mean "guarded"?'],
    [
      [...CHECK, '--other-email', 'x@y.z'],
      '--other-email is the address of an account at --other. Pass --other URL too',
    ],
    [[...CHECK, '--user', 'x'], 'check has no option --user. Did you mean "--email"?'],
    [
      [...CHECK, '--insecure'],
      'check has no option --insecure. For a private certificate authority, set NODE_EXTRA_CA_CERTS. For http, pass --plain-http',
    ],
    [[...CHECK, '--format', 'json'], 'check has no option --format. For JSON, pass --json'],
    [
      [...CHECK, '--output', 'x'],
      'check has no option --output. Redirect standard output: check https://api.example.com --email EMAIL --json > report.json',
    ],
    [[...CHECK, 'https://two.example'], 'check takes only one URL'],
  ])('%j', async (args, says) => {
    const stderr = `express-token-endpoint: ${says}\n`
    expect(await cli(args, { input: SECRET })).toEqual({ code: 2, stdout: '', stderr })
  })

  test.each([
    [['hash', SECRET]],
    [['hash', '--password', SECRET]],
    [['hash', `--password=${SECRET}`]],
    [['hash', '-p', SECRET]],
    [['hash', `-p${SECRET}`]],
    [[...CHECK, '--password', SECRET]],
    [[...CHECK, `-p${SECRET}`]],
  ])('a password as an argument is refused, and repeated nowhere: %j', async (args) => {
    const { code, stdout, stderr } = await cli(args, { input: 'another one' })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^express-token-endpoint: .+Never pass a password as an argument.+\n$/)
    expect(stderr).not.toContain(SECRET)
  })
})

test('a password that stands where a command belongs is not repeated', async () => {
  expect((await cli([SECRET])).stderr).not.toContain(SECRET)
})
