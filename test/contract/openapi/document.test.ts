// Tests openapi/{document,document-options,guarded-operation,headers,message,operation,problem}.ts

import { Validator } from '@seriousme/openapi-schema-validator'
import { SignInRefusal } from 'express-token-endpoint'
import { guardedOperation, type OpenApiOptions, openApiDocument } from 'express-token-endpoint/openapi'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessionsFeature } from '../../../src/features/sessions.js'
import { messageOf } from '../../../src/openapi/message.js'
import type { MediaType } from '../../../src/openapi/types.js'
import { complaintsOf } from '../../support/documents/lint.js'
import { expectMisuse } from '../../support/failures.js'
import { TOKEN_PATH } from '../../support/http.js'

const KEYS_PATH = '/.well-known/jwks.json'
const PATHS_OF_SESSIONS = [...new Set(sessionsFeature.endpoints.map(({ path }) => path))]
const FINE = { description: 'Fine.' }
const OK = { responses: { 200: FINE } }
/** An operation about which a linter has nothing to say. */
const OWN = {
  operationId: 'own',
  summary: 'Own',
  description: 'Our own.',
  tags: ['Own'],
  responses: { 200: FINE, 404: FINE },
}

// One for all documents, because it compiles its schemas once.
const validator = new Validator()
const expectValid = async (document: object) =>
  expect(await validator.validate(document as Record<string, unknown>)).toEqual({ valid: true })

describe('openApiDocument', () => {
  it.each<OpenApiOptions>([
    {},
    { jwks: true, servers: 'https://api.example.com' },
    { sessions: '/me/sessions', schemeName: 'token' },
    { path: false },
    { refresh: 'cookie', paths: {}, path: '/token' },
    { refresh: 'body', tokenResponse: { type: 'object' } },
    { refresh: true, jwks: true, sessions: true },
    { path: '/login', tokenResponse: { type: 'object' } },
    { extraFields: ['code'], refusals: ['code_required', new SignInRefusal('terms', { status: 451 })] },
    { tokenRequest: { type: 'object' }, refusals: [] },
    { title: 'A', version: '1', servers: ['https://a.example', 'https://b.example/v1'], path: '/t', jwks: '/keys' },
  ])('is a valid OpenAPI 3.1 document: %j', async (options) => {
    const document = openApiDocument(options)
    expect(document.openapi).toBe('3.1.0')
    await expectValid(document)
  })

  it('describes the further fields and the refusals of a step after the password', () => {
    const terms = new SignInRefusal('terms_changed', { status: 451, detail: 'Accept our terms.' })
    const { components, paths } = openApiDocument({ extraFields: ['code'], refusals: ['code_required', terms] })
    const credentials = components.schemas['TokenCredentials'] as { properties: object; required: string[] }
    expect(credentials).toMatchObject({ properties: { code: {} }, required: ['email', 'password'] })
    const { responses } = (paths[TOKEN_PATH] as { post: unknown }).post as {
      responses: Record<string, { content: object; description: string }>
    }
    expect(JSON.stringify(responses['403']?.content)).toContain('"enum":["code_required"]')
    expect(responses['403']?.description).toContain('`code_required`: The sign-in was refused.')
    expect(responses['451']?.description).toBe('`terms_changed`: Accept our terms.')
    const { code } = (components.schemas['AuthProblem'] as { properties: { code: { enum: string[] } } }).properties
    expect(code.enum.slice(-2)).toEqual(['code_required', 'terms_changed'])
    const typed = openApiDocument({ extraFields: { code: { type: 'string' } }, tokenRequest: { type: 'array' } })
    expect(typed.components.schemas['TokenCredentials']).toEqual({ type: 'array' })
    const { TokenCredentials } = openApiDocument({ extraFields: { code: { type: 'string' } } }).components.schemas
    expect(TokenCredentials).toMatchObject({ properties: { code: { type: 'string' } } })
  })

  describe('with a second factor', () => {
    const account = { secondFactor: true, signInByMail: true, passkeys: true, signUp: true }
    const { paths, components } = openApiDocument({ account, refresh: true, stepUp: true, refusals: ['terms'] })
    const codesOf = (path: string) =>
      Object.values(Object(paths[path]?.post?.responses['403']).content ?? {}).flatMap(
        (media) => Object(media).schema.properties.code.enum,
      )

    it('the bodies have the code', () => {
      for (const name of ['TokenCredentials', 'MailedCode', 'StepUpRequest'])
        expect([name, components.schemas[name]]).toMatchObject([name, { properties: { otp: { type: 'string' } } }])
      for (const schema of Object.values(components.schemas)) expect(schema['required'] ?? []).not.toContain('otp')
      expect(JSON.stringify(openApiDocument({ stepUp: true }))).not.toContain('"otp"')
    })

    it('the sign-ins that ask for the code have both refusals, and other endpoints have neither', () => {
      for (const path of [TOKEN_PATH, `${TOKEN_PATH}/mail/confirm`, `${TOKEN_PATH}/confirm`])
        expect([path, codesOf(path).slice(-3)]).toEqual([path, ['terms', 'code_required', 'wrong_code']])
      expect(codesOf('/auth/account/totp/confirm')).toContain('wrong_code')
      expect(codesOf('/auth/account/totp/confirm')).not.toContain('code_required')
      for (const path of [`${TOKEN_PATH}/passkey`, '/auth/account/confirm']) {
        expect(codesOf(path)).toContain('terms')
        expect(codesOf(path)).not.toContain('wrong_code')
      }
      const { code } = (components.schemas['AuthProblem'] as { properties: { code: { enum: string[] } } }).properties
      expect(code.enum.slice(-3)).toEqual(['terms', 'code_required', 'wrong_code'])
    })

    it('a refusal that the host names too is there once, as the host says it', () => {
      const own = new SignInRefusal('wrong_code', { detail: 'Ours.' })
      const { post } = Object(openApiDocument({ account, refusals: [own] }).paths[TOKEN_PATH])
      expect(post.responses['403'].description.match(/wrong_code`: [^`]*/g)).toEqual(['wrong_code`: Ours.\n\n'])
    })
  })

  it.each<[OpenApiOptions['refresh'], string]>([
    ['body', 'must contain "refreshToken" exactly once, as a string'],
    ['cookie', 'reads the refresh token from a cookie'],
    [true, 'must contain "refreshToken" exactly once, as a string'],
  ])('with refresh %j, the 400 of a refresh says what it needs', (refresh, says) => {
    const { paths } = openApiDocument({ refresh })
    expect(paths[`${TOKEN_PATH}/refresh`]?.post?.responses['400']).toMatchObject({
      description: expect.stringContaining(says),
    })
  })

  it('is valid wherever the endpoints are, and whatever the scheme is called', async () => {
    const letters = (alphabet: string) => fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 12 })
    const path = fc
      .array(letters('abcXYZ019_.~-'), { minLength: 1, maxLength: 4 })
      .map((segments) => `/${segments.join('/')}`)
    const some = fc.record({ title: fc.string({ minLength: 1 }), path, jwks: path, schemeName: letters('abZ09._-') })
    await fc.assert(
      fc.asyncProperty(some, async (options) => {
        const document = openApiDocument(options)
        const { schemeName } = options
        document.paths['/own'] = { get: guardedOperation(OK, { schemeName }) }
        await expectValid(document)
        expect(document.paths).toHaveProperty([options.path])
        expect(Object.keys(document.components.securitySchemes)).toEqual([schemeName])
      }),
      { numRuns: 30 },
    )
  })

  it.each<[OpenApiOptions, string[], string[]]>([
    [{}, [TOKEN_PATH], ['TokenCredentials', 'TokenResult', 'AuthProblem']],
    [{ jwks: false }, [TOKEN_PATH], ['TokenCredentials', 'TokenResult', 'AuthProblem']],
    [{ jwks: true }, [TOKEN_PATH, KEYS_PATH], ['TokenCredentials', 'TokenResult', 'TokenKeySet', 'AuthProblem']],
    [
      { refresh: 'cookie' },
      [TOKEN_PATH, `${TOKEN_PATH}/refresh`, `${TOKEN_PATH}/sign-out`],
      ['TokenCredentials', 'TokenResult', 'AuthProblem'],
    ],
    [
      { refresh: 'body', path: '/token' },
      ['/token', '/token/refresh', '/token/sign-out'],
      ['TokenCredentials', 'TokenResult', 'RefreshRequest', 'AuthProblem'],
    ],
    [{ refresh: true, path: false }, [], ['AuthProblem']],
    [{ refresh: false }, [TOKEN_PATH], ['TokenCredentials', 'TokenResult', 'AuthProblem']],
    [{ jwks: '/keys', path: false }, ['/keys'], ['TokenKeySet', 'AuthProblem']],
    [
      { sessions: true, path: false },
      PATHS_OF_SESSIONS.map((path) => `/sessions${path.replace(/^\/$/, '')}`),
      ['SessionList', 'AuthProblem'],
    ],
    [{ sessions: '/', path: false }, PATHS_OF_SESSIONS, ['SessionList', 'AuthProblem']],
    [{ path: false }, [], ['AuthProblem']],
  ])('%j: has the paths %j, with their schemas', (options, paths, schemas) => {
    const document = openApiDocument(options)
    expect(Object.keys(document.paths)).toEqual(paths)
    expect(Object.keys(document.components.schemas)).toEqual(schemas)
    expect(document.tags.map(({ name }) => name)).toEqual(paths.length > 0 ? ['Authentication'] : [])
    expect(document.info).toEqual({ title: 'Token endpoint', version: 'v2013' })
    expect(document.servers).toBeUndefined()
  })

  it.each<[string, OpenApiOptions, object]>([
    [
      'of a guarded operation',
      { paths: { '/own': { get: guardedOperation(OWN) } } },
      { responses: ['Bearer400', 'Bearer401', 'Bearer503'], schemas: ['AuthProblem'], securitySchemes: ['bearer'] },
    ],
    [
      'of an operation with its own responses',
      { paths: { '/own': { get: guardedOperation({ ...OWN, responses: { ...OWN.responses, 503: FINE } }) } } },
      { responses: ['Bearer400', 'Bearer401'], schemas: ['AuthProblem'], securitySchemes: ['bearer'] },
    ],
    [
      'of an operation without a guard',
      { paths: { '/own': { get: { ...OWN, security: [] } } } },
      { responses: [], schemas: [], securitySchemes: [] },
    ],
    [
      'of the token endpoint with a refresh cookie',
      { paths: {}, path: '/token', refresh: 'cookie' },
      { responses: [], schemas: ['TokenCredentials', 'TokenResult', 'AuthProblem'], securitySchemes: [] },
    ],
    [
      'of the token endpoint with refresh for all clients',
      { paths: {}, path: '/token', refresh: true },
      {
        responses: [],
        schemas: ['TokenCredentials', 'TokenResult', 'RefreshRequest', 'AuthProblem'],
        securitySchemes: [],
      },
    ],
    [
      'of the token endpoint alone',
      { paths: {}, path: '/token', jwks: true },
      {
        responses: [],
        schemas: ['TokenCredentials', 'TokenResult', 'TokenKeySet', 'AuthProblem'],
        securitySchemes: [],
      },
    ],
  ])('with paths, has only the components %s, and a linter has nothing to say', async (_what, options, names) => {
    const servers = 'https://api.clearing.test'
    const document = openApiDocument({ path: false, servers, ...options })
    const { responses, schemas, securitySchemes } = document.components
    const found = { responses, schemas, securitySchemes }
    expect(Object.fromEntries(Object.entries(found).map(([kind, all]) => [kind, Object.keys(all)]))).toEqual(names)
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(Object.keys(options.paths ?? {})))
    document.tags.push({ name: 'Own', description: 'Our own.' })
    Object.assign(document.info, { license: { name: 'MIT', identifier: 'MIT' }, contact: { name: 'We' } })
    await expectValid(document)
    expect(await complaintsOf(document)).toEqual([])
  })

  it.each<[NonNullable<OpenApiOptions['refresh']>, object]>([
    [
      'cookie',
      { credentials: ['remember'], result: [], required: [], cookie: { name: '__Secure-refresh', required: false } },
    ],
    ['body', { credentials: [], result: ['refreshToken'], required: ['refreshToken'], body: { required: true } }],
    [
      true,
      {
        credentials: ['remember'],
        result: ['refreshToken'],
        required: [],
        cookie: { required: false },
        body: { required: false },
      },
    ],
  ])('with refresh %j, has the members of its clients', (refresh, expected) => {
    const { paths, components } = openApiDocument({ refresh })
    const { TokenCredentials, TokenResult } = components.schemas as Record<
      string,
      { properties: object; required: string[] }
    >
    const own = ['authenticationToken', 'expiration', 'email', 'password']
    const others = (names: string[] = []) => names.filter((name) => !own.includes(name))
    for (const path of ['refresh', 'sign-out']) {
      const operation = paths[`${TOKEN_PATH}/${path}`]?.post
      const [cookie] = (operation?.parameters ?? []) as object[]
      const found = {
        credentials: others(Object.keys(TokenCredentials?.properties ?? {})),
        result: others(Object.keys(TokenResult?.properties ?? {})),
        required: others(TokenResult?.required),
        ...(cookie && { cookie }),
        ...(operation?.requestBody && { body: operation.requestBody }),
      }
      expect(Object.keys(found)).toEqual(Object.keys(expected))
      expect(found).toMatchObject(expected)
      expect(operation?.security).toEqual([])
    }
  })

  it.each<[NonNullable<OpenApiOptions['refresh']>, string[], string[]]>([
    ['cookie', ['cross_site_request'], []],
    ['body', [], ['unsupported_media_type', 'cross_site_form', 'body_too_large']],
    [true, ['cross_site_request'], ['unsupported_media_type', 'cross_site_form', 'body_too_large']],
  ])('with refresh %j, names only refusals that its clients get', (refresh, ofCookie, ofBody) => {
    const { paths } = openApiDocument({ refresh })
    const codesOf = (path: string) => {
      const responses = Object(paths[TOKEN_PATH + path]?.post).responses as Record<string, { description: string }>
      return Object.values(responses).flatMap(({ description }) => description.match(/(?<=`)[a-z_]+(?=`:)/g) ?? [])
    }
    const both = ['method_not_allowed', 'invalid_body', 'overloaded', 'unavailable']
    const expected = [...both, ...ofCookie, ...ofBody].sort()
    expect(codesOf('/sign-out').sort()).toEqual(expected)
    expect(codesOf('/refresh').sort()).toEqual([...expected, 'invalid_refresh_token'].sort())
  })

  it.each<[OpenApiOptions['refresh'], string[][]]>([
    [false, [[]]],
    ['cookie', [[]]],
    ['body', [['refreshToken']]],
    [true, [[], ['refreshToken']]],
  ])('with refresh %j, has an example with the members of each kind of client', (refresh, expected) => {
    const { paths } = openApiDocument({ refresh })
    for (const path of refresh ? [TOKEN_PATH, `${TOKEN_PATH}/refresh`] : [TOKEN_PATH]) {
      const { content } = Object(paths[path]?.post?.responses['200']) as { content: Record<string, MediaType> }
      const { example, examples } = Object(content['application/json']) as MediaType
      const values = examples ? Object.values(examples).map(({ value }) => value) : [example]
      const members = values.map((value) => Object.keys(value as object).slice(2))
      expect(members).toEqual(expected)
    }
  })

  it('describes each media type of a refresh token in the body', () => {
    const { paths } = openApiDocument({ refresh: 'body' })
    for (const path of ['refresh', 'sign-out']) {
      const { content } = Object(paths[`${TOKEN_PATH}/${path}`]?.post?.requestBody) as { content: object }
      expect(Object.keys(content)).toEqual(['application/json', 'application/x-www-form-urlencoded'])
    }
  })

  it('has no content for a status that is also empty, unless the host has refusals of it', () => {
    const contentOf = (options: OpenApiOptions) =>
      Object(openApiDocument(options).paths[TOKEN_PATH]?.post?.responses['403']).content
    expect(contentOf({ refresh: 'cookie' })).toBeUndefined()
    expect(contentOf({ refresh: 'cookie', refusals: ['code_required'] })).toBeDefined()
  })

  it('with refresh, keeps the members of a response of the host', () => {
    const tokenResponse = { type: 'object', required: ['access_token'], properties: { access_token: {} } }
    const { TokenResult } = openApiDocument({ refresh: 'body', tokenResponse }).components.schemas
    expect(TokenResult).toMatchObject({
      required: ['access_token', 'refreshToken'],
      properties: { access_token: {}, refreshToken: { type: 'string' } },
    })
  })

  it('leaves the slash at the end of a server out: paths begin with one', () => {
    expect(openApiDocument({ servers: 'https://api.example.com/' }).servers).toEqual([
      { url: 'https://api.example.com' },
    ])
  })

  it('is plain JSON, and made anew for each call', () => {
    const [document, other] = [openApiDocument({ jwks: true }), openApiDocument({ jwks: true })]
    const text = JSON.stringify(other)
    expect(JSON.parse(text)).toEqual(document)
    const spoil = (value: object): void => {
      for (const [key, inner] of Object.entries(value)) {
        if (typeof inner === 'object' && inner !== null) spoil(inner)
        else Object.assign(value, { [key]: 'spoilt' })
      }
    }
    spoil(document)
    expect(JSON.stringify(other)).toBe(text)
    expect(JSON.stringify(openApiDocument({ jwks: true }))).toBe(text)
  })

  it.each<[string, object | string, RegExp]>([
    ['a path with a pattern', { path: '/:house/token' }, /option "path" must be a path like/],
    ['no path', { path: true }, /option "path" must be a path like/],
    ['a path that is a word', { path: 'false' }, /option "path" must be a path like/],
    ['a path of the keys that is a word', { jwks: 'true' }, /option "jwks" must be a path like/],
    [
      'a server without a scheme',
      { servers: 'api.example.com' },
      /option "servers" must be .*Is "https:\/\/" missing\?/,
    ],
    ['one bad server among others', { servers: ['https://a.example', 'x'] }, /option "servers" must be/],
    ['a refresh of another kind', { refresh: 'header' }, /option "refresh" must be 'cookie', 'body', true or false/],
    ['an empty title', { title: '' }, /option "title" must be a non-empty string/],
    ['a scheme that no reference can name', { schemeName: 'bearer token' }, /option "schemeName" must be a name/],
    ['an empty version', { version: '' }, /option "version" must be a non-empty string/],
    ['fields', { fields: {} }, /unknown option "fields". Did you mean "tokenRequest"/],
    ['a response that is no schema', { tokenResponse: () => ({}) }, /option "tokenResponse" must be a schema, like/],
    ['extra fields that are a text', { extraFields: 'code' }, /option "extraFields" must be a list of names/],
    ['refusals that are a text', { refusals: 'x' }, /option "refusals" must be a list of codes/],
    ['a request that is no schema', { tokenRequest: 'x' }, /option "tokenRequest" must be a schema, like/],
    ['a list of paths', { paths: [] }, /option "paths" must be an object of path items, like/],
    ['a path without a slash', { paths: { own: {} } }, /option "paths" must be an object of path items, like/],
    ['no object', 'Statements', /^openApiDocument: expected an options object/],
  ])('misuse: %s', (_what, options, says) => {
    expectMisuse(() => openApiDocument(options as OpenApiOptions), says)
  })

  const MEANT = {
    servers: 'server',
    tokenRequest: 'credentials fields',
    tokenResponse: 'respond',
    schemeName: 'scheme',
  }
  it.each(Object.entries(MEANT))('misuse: %s is meant by the names of other packages: %s', (meant, names) => {
    for (const name of names.split(' ')) {
      const says = `openApiDocument: unknown option "${name}". Did you mean "${meant}"?`
      expectMisuse(() => openApiDocument({ [name]: 'x' }), says)
    }
  })
})

describe('guardedOperation', () => {
  const ref = (status: string) => ({ $ref: `#/components/responses/Bearer${status}` })

  it('adds the scheme and the guard’s answers, and leaves the operation as it was', () => {
    const operation = { summary: 'Mine', ...OK }
    expect(guardedOperation(operation)).toEqual({
      summary: 'Mine',
      security: [{ bearer: [] }],
      responses: { 200: { description: 'Fine.' }, 400: ref('400'), 401: ref('401'), 503: ref('503') },
    })
    expect(operation).toEqual({ summary: 'Mine', responses: { 200: { description: 'Fine.' } } })
  })

  it.each(['a b', ['a', 'b']])('with a scope, the 403 too: %j', (scope) => {
    const { security, responses } = guardedOperation(OK, { scope })
    expect(security).toEqual([{ bearer: ['a', 'b'] }])
    expect(responses['403']).toEqual(ref('403'))
  })

  it('with anyScope, each scope is a requirement of its own, and the 403 is there', async () => {
    const document = openApiDocument({ path: false })
    document.paths['/own'] = { get: guardedOperation(OK, { scope: 'a', anyScope: 'b c', optional: true }) }
    await expectValid(document)
    expect(document.paths['/own'].get?.security).toEqual([{}, { bearer: ['a', 'b'] }, { bearer: ['a', 'c'] }])
    expect(guardedOperation(OK, { anyScope: ['b'] }).responses).toHaveProperty('403')
  })

  it('with signedInWithin, the 401 names the time', async () => {
    const document = openApiDocument({ path: false })
    document.paths['/own'] = { get: guardedOperation(OK, { signedInWithin: '5m' }) }
    await expectValid(document)
    const description = expect.stringContaining('more than 300 seconds old')
    const { 401: recent, ...others } = document.paths['/own'].get?.responses ?? {}
    expect(recent).toEqual({ ...ref('401'), description })
    const responses = { ...OK.responses, 400: ref('400'), 503: ref('503') }
    expect(others).toEqual({ ...responses, 403: ref('403') })
    const withActing = guardedOperation(OK, { signedInWithin: '5m', acting: true })
    expect(withActing.responses).toEqual({ 401: recent, ...responses })
    expect(guardedOperation(OK, { acting: false }).responses).toHaveProperty('403')
  })

  it.each<[Parameters<typeof guardedOperation>[1], string]>([
    [{ secondFactor: true }, 'No valid token, or a sign-in without a second factor or a passkey.'],
    [{ apiKeys: true }, 'No valid token or API key.'],
    [
      { apiKeys: true, secondFactor: true, signedInWithin: '5m' },
      'No valid token or API key, or a sign-in that is more than 300 seconds old (RFC 9470), or a sign-in without a second factor or a passkey.',
    ],
    [{ apiKeys: false, secondFactor: false }, ''],
  ])('with %j, the 401 says what the guard refuses', async (options, description) => {
    const document = openApiDocument({ path: false })
    document.paths['/own'] = { get: guardedOperation(OK, options) }
    await expectValid(document)
    const found = document.paths['/own'].get?.responses['401']
    expect(found).toEqual({ ...ref('401'), ...(description && { description }) })
  })

  it('has an example of a guard that needs a second factor, whose challenge has no max_age', () => {
    const { headers, content } = Object(openApiDocument().components.responses['Bearer401'])
    const { examples } = Object(Object.values(content)[0])
    expect(examples.second_factor.value).toMatchObject({ code: 'insufficient_user_authentication' })
    const { pattern } = headers['WWW-Authenticate'].schema
    const challenge = 'Bearer realm="x", error="insufficient_user_authentication", error_description="y"'
    expect(challenge).toMatch(new RegExp(pattern))
    expect(`${challenge}, max_age="300"`).toMatch(new RegExp(pattern))
  })

  it('leads to the components of the document, under its scheme’s name', async () => {
    const document = openApiDocument({ path: false, schemeName: 'token' })
    document.paths['/own'] = { get: guardedOperation(OK, { scope: 'a', schemeName: 'token' }) }
    await expectValid(document)
    const names = Object.values(document.paths['/own'].get?.responses ?? {}).flatMap((one) =>
      '$ref' in one ? one.$ref.split('/').slice(-1) : [],
    )
    expect(names).toEqual(Object.keys(document.components.responses))
    expect(document.paths['/own'].get?.security).toEqual([{ token: ['a'] }])
  })

  it('an optional guard lets a request without credentials through', () => {
    expect(guardedOperation(OK, { optional: true }).security).toEqual([{}, { bearer: [] }])
  })

  it('a response of the operation stays', () => {
    const responses = { 400: { description: 'Mine.' } }
    expect(guardedOperation({ responses }).responses['400']).toEqual({ description: 'Mine.' })
  })

  it.each<[object, RegExp]>([
    [{ scope: '' }, /option "scope" must be scope tokens/],
    [{ scopes: 'a' }, /unknown option "scopes". Did you mean "scope"\?/],
    [{ requiredScopes: 'a' }, /unknown option "requiredScopes". Did you mean "scope"\?/],
    [{ scheme: 'a' }, /unknown option "scheme". Did you mean "schemeName"\?/],
    [{ credentialsRequired: false }, /unknown option "credentialsRequired". Did you mean "optional"\?/],
    [{ secondFactor: 1 }, /^guardedOperation: option "secondFactor" must be true or false/],
    [{ apiKeys: 'a' }, /^guardedOperation: option "apiKeys" must be true or false/],
    [{ optional: 'yes' }, /^guardedOperation: option "optional" must be true or false/],
    [{ schemeName: 'a b' }, /option "schemeName" must be a name of letters, digits/],
  ])('misuse: %j', (options, says) => {
    expectMisuse(() => guardedOperation(OK, options), says)
  })
})

/** Run this test with `--update` to accept a change of the document. Read the difference as a client would. */
it('the document of all endpoints changes only with this file', async () => {
  const account = {
    passwordReset: true,
    changePassword: true,
    changeAddress: true,
    deletion: true,
    signInByMail: true,
    secondFactor: true,
    apiKeys: true,
    passkeys: true,
  }
  const document = openApiDocument({
    refresh: true,
    jwks: true,
    sessions: true,
    stepUp: true,
    account: { ...account, signUp: { fields: ['name'] } },
    servers: 'https://api.example.com',
  })
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('published.json')
})

it('requires a header that every response with the status has, and no other', () => {
  const answers = [
    { status: 503, headers: { Pragma: 'no-cache', 'Retry-After': '1' }, body: '' },
    { status: 503, headers: { Pragma: 'no-cache' }, body: '' },
  ]
  const { headers = {}, content } = messageOf(answers, {})
  expect(Object.keys(headers)).toEqual(['Pragma', 'Retry-After'])
  expect(headers['Pragma']).toMatchObject({ required: true, schema: { enum: ['no-cache'] } })
  expect(headers['Retry-After']).toMatchObject({ required: false })
  expect(content).toBeUndefined()
})

it.each([
  'signUp',
  'passwordReset',
  'changePassword',
  'changeAddress',
  'deletion',
  'signInByMail',
  'secondFactor',
  'apiKeys',
  'passkeys',
])('has each schema and each response that it refers to, with only %s', (name) => {
  const document = openApiDocument({ account: { [name]: true } })
  const named = [...JSON.stringify(document).matchAll(/"#\/components\/(schemas|responses)\/(\w+)"/g)]
  expect(named.length).toBeGreaterThan(0)
  for (const [, kind, component] of named)
    expect(document.components[kind as 'schemas']).toHaveProperty([String(component)])
})
