import { readFileSync } from 'node:fs'
import {
  AuthError,
  type AuthErrorCode,
  argon2id,
  authErrors,
  bcrypt,
  createLogin,
  createPasswords,
  createSessions,
  createThrottle,
  createTokenIssuer,
  createTokenVerifier,
  firebaseScrypt,
  jwksRouter,
  memorySessions,
  protectedResourceRouter,
  remoteKeys,
  requireBearer,
  sessionRouter,
  tokenRouter,
} from 'express-token-endpoint'
import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import { accountStoreContract, createTestIssuer, sessionStoreContract } from 'express-token-endpoint/testing'
import { describe, expect, it } from 'vitest'
import { check } from '../../../../src/cli/check/check.js'
import type { Command } from '../../../../src/cli/command.js'
import { hash } from '../../../../src/cli/hash/hash.js'
import { keygen } from '../../../../src/cli/keygen/keygen.js'
import { REFUSALS } from '../../../../src/shared/refusals.js'
import { type Page, readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { thrownBy } from '../../../support/failures.js'
import { ISSUER } from '../../../support/fixtures.js'

type Make = (options: object) => unknown

const FUNCTIONS: Record<string, Make> = {
  'createTokenIssuer(options)': createTokenIssuer as Make,
  'createTokenVerifier(options)': createTokenVerifier as Make,
  'jwksRouter(options)': jwksRouter as Make,
  'remoteKeys(url, options?)': (options) => remoteKeys(ISSUER, options),
  'protectedResourceRouter(options)': protectedResourceRouter as Make,
  'createLogin(options)': createLogin as Make,
  'tokenRouter(options)': tokenRouter as Make,
  'authErrors(options?)': authErrors,
  'requireBearer(options)': requireBearer as Make,
  'createPasswords(options?)': createPasswords as Make,
  'argon2id(options?)': argon2id,
  'bcrypt(options?)': bcrypt,
  'firebaseScrypt(options)': firebaseScrypt as Make,
  'createThrottle(options?)': createThrottle as Make,
  'openApiDocument(options?)': openApiDocument as Make,
  'guardedOperation(operation, options?)': (options) => guardedOperation({ responses: {} }, options),
  'createTestIssuer(options?)': createTestIssuer as Make,
  'accountStoreContract(options)': accountStoreContract as Make,
  'createSessions(store, options?)': (options) => createSessions(memorySessions(), options),
  'sessionRouter(options)': sessionRouter as Make,
  'sessionStoreContract(options)': sessionStoreContract as Make,
}
const COMMANDS: readonly Command[] = [keygen, hash, check]

const source = (file: string) => readFileSync(`${root}src/${file}`, 'utf8')

/** Returns the members of a union of texts. */
function unionOf(file: string, name: string): string[] {
  const [, union = ''] = new RegExp(`^export type ${name} =([^=]+?)\\n\\n`, 'm').exec(source(file)) ?? []
  return [...union.matchAll(/'(\w+)'/g)].map(([, member = '']) => member)
}

/** Returns the members of the interfaces in a text, without docstrings. */
const membersOf = (text: string) =>
  [...text.matchAll(/^ {2}(\w+)\??: (.+[^,])$/gm)].map(([, name = '', type = '']) => ({ name, type }))

const clientOptions = /^export interface TokenClientOptions \{\n[\s\S]*?^\}/m.exec(source('client/client-options.ts'))
const events = membersOf(source('shared/events.ts'))

/** Returns the options that a function accepts, from its message about an unknown option. */
function knownOptions(make: Make): string[] {
  const { message } = thrownBy(() => make({ '?': 1 })) as TypeError
  return /Known options: (.*?)(?:\. |$)/.exec(message)?.[1]?.split(', ') ?? []
}

/** Returns the flags and the environment variables of a command. */
const flagsOf = ({ options, details }: Command) =>
  new Set([
    ...Object.keys(options).map((option) => `--${option}`),
    '--help',
    ...(details.match(/CHECK_[A-Z_]+/g) ?? []),
  ])

const pages = {
  cli: readPage('docs/reference/cli.md'),
  client: readPage('docs/guides/client.md'),
  errors: readPage('docs/reference/errors.md'),
  events: readPage('docs/guides/monitor.md'),
}

/** Returns what a pattern captures in the headings of a page. */
const inHeadings = ({ headings }: Page, pattern: RegExp) =>
  headings.flatMap(({ text }) => pattern.exec(text)?.[1] ?? [])

/** Returns what a pattern captures in the first column of a section's tables. */
const inRows = ({ tableIn }: Page, heading: string, pattern = /^`(\w+)`$/) =>
  tableIn(heading).flatMap(([cell = '']) => pattern.exec(cell)?.[1] ?? [])

/** Returns the options in the rows below each heading with the name of a function. A row may have several. */
function optionsOf(name: string): string[] {
  const cells = [
    'reference/options',
    'guides/issuers',
    'guides/mcp',
    'reference/login',
    'reference/passwords',
    'reference/sessions',
  ]
    .map((page) => readPage(`docs/${page}.md`))
    .flatMap((page) => {
      const { text, level = 0 } = page.headings.find((heading) => heading.text === `\`${name}\``) ?? {}
      return text === undefined ? [] : inRows(page, `${'#'.repeat(level)} ${text}`, /^((?:`\w+`(?:, )?)+)$/)
    })
  return cells.flatMap((cell) => cell.match(/\w+/g) ?? [])
}

const eventSections = pages.events.headings.filter(({ level }) => level === 2).map(({ text }) => `## ${text}`)

describe('the pages name each of these, and no other:', () => {
  it.each<[what: string, named: Iterable<string>, members: Iterable<string | undefined>]>([
    [
      'options of createTokenClient',
      inRows(pages.client, '## Options'),
      membersOf(clientOptions?.[0] ?? '').map(({ name }) => name),
    ],
    [
      'codes of TokenClientError',
      inRows(pages.client, '## Errors'),
      unionOf('client/token-client-error.ts', 'TokenClientErrorCode'),
    ],
    ['AuthErrorCode', inHeadings(pages.errors, /^`(\w+)`$/), Object.keys(REFUSALS)],
    ['LoginRefusal', inHeadings(pages.errors, /^Login: `(\w+)`$/), unionOf('shared/refusals.ts', 'LoginRefusal')],
    ['TokenRefusal', inHeadings(pages.errors, /^Token: `(\w+)`$/), unionOf('shared/refusals.ts', 'TokenRefusal')],
    ['Dependency', inHeadings(pages.errors, /^Dependency: `(\w+)`$/), unionOf('shared/refusals.ts', 'Dependency')],
    [
      'types of events',
      inHeadings(pages.events, /^`([\w.]+)`$/),
      events.flatMap(({ name, type }) => (name === 'type' ? type.replaceAll("'", '') : [])),
    ],
    [
      'members of events',
      new Set(eventSections.flatMap((heading) => inRows(pages.events, heading))),
      new Set(events.map(({ name }) => name)),
    ],
    ...COMMANDS.map((command): [string, string[], Iterable<string>] => [
      `flags and variables of ${command.name}`,
      inRows(pages.cli, `## \`${command.name}\``, /^`(--[\w-]+|CHECK_\w+)(?: [^`]+)?`$/),
      flagsOf(command),
    ]),
    ...Object.entries(FUNCTIONS).map(([name, make]): [string, string[], string[]] => [
      `options of ${name}`,
      optionsOf(name),
      knownOptions(make),
    ]),
  ])('%s', (_what, named, members) => {
    expect([...members]).not.toEqual([])
    expect([...named].sort()).toEqual([...members].sort())
  })
})

describe('the page on errors', () => {
  it('names the status of each code', () => {
    for (const code of Object.keys(REFUSALS) as AuthErrorCode[])
      expect(pages.errors.section(`### \`${code}\``), code).toMatch(new RegExp(`\\b${new AuthError(code).status}\\b`))
  })

  it('says something below each heading', () => {
    for (const { text } of pages.errors.headings.filter(({ level }) => level === 3))
      expect(pages.errors.section(`### ${text}`), text).toMatch(/\w+ \w+ \w+/)
  })
})
