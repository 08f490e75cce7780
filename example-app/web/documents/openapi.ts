import type { AuthDescription } from 'express-token-endpoint'
import {
  guardedOperation,
  type OpenApiDocument,
  openApiDocument,
  type Response,
  type Schema,
} from 'express-token-endpoint/openapi'

/**
 * Creates the document that the clearing-house API serves at `/openapi.json`.
 * @param url address of the API for clients
 * @param described the routes of the package: `auth.openApi`
 */
export function clearingHouseDocument(url: string, described: AuthDescription): OpenApiDocument {
  const document = openApiDocument({
    title: 'Clearing-house API',
    servers: url,
    ...described,
    paths: {
      '/api/v2013/account': {
        get: guardedOperation({
          operationId: 'ownAccount',
          summary: 'Get your account',
          description: 'Needs no scope.',
          tags: ['Statements'],
          responses: { 200: json('The account of the token.', 'OwnAccount'), ...FAILURES_OF_ALL },
        }),
      },
      '/api/v2013/houses/{house}/statements': {
        get: guardedOperation(
          {
            operationId: 'listStatements',
            summary: 'List your statements in one house',
            description: 'Needs the scope `statements:read`. An API key works too.',
            tags: ['Statements'],
            parameters: [{ name: 'house', in: 'path', required: true, example: 'north', schema: { type: 'string' } }],
            responses: {
              200: json('The house, and the statements, oldest first.', 'StatementList'),
              400: problem('`bad_request`: the house is not UTF-8. `invalid_request`: malformed credentials.'),
              ...FAILURES,
            },
          },
          { scope: 'statements:read' },
        ),
      },
    },
  })
  Object.assign(document.info, ABOUT, {
    description: [
      'Get a token with the first call. Press _Authorize_ and paste the token. Then the other calls work.',
      'The online reporting API accepts the same token and has its own document.',
    ].join(' '),
  })
  document.tags.push({ name: 'Statements', description: 'An account, and its statements.' })
  const { id, name } = HOUSE
  Object.assign(document.components.schemas, {
    House: object({ id, name }),
    OwnAccount: object({ email: { type: 'string' }, secondFactor: { type: 'boolean' } }),
    Statement: object({
      id: { type: 'string' },
      day: DAY,
      description: { type: 'string' },
      amountCents: { type: 'integer' },
    }),
    StatementList: object({ house: refTo('House'), statements: { type: 'array', items: refTo('Statement') } }),
    Problem,
  })
  return document
}

/**
 * Creates the document of the online reporting API, which verifies tokens and issues none.
 * @param url address of the API for clients
 */
export function reportingDocument(url: string): OpenApiDocument {
  const document = openApiDocument({
    title: 'Online reporting API',
    servers: url,
    path: false,
    paths: {
      '/api/v2013/reports/daily-totals': {
        get: guardedOperation(
          {
            operationId: 'dailyTotals',
            summary: 'Add up your statements by house and day',
            description: 'Needs the scope `reports:read`.',
            tags: ['Reports'],
            parameters: [{ name: 'house', in: 'query', description: 'Only this house.', schema: { type: 'string' } }],
            responses: {
              200: json('Every house, or only the requested house.', 'DailyTotals'),
              400: problem('`bad_request`: more than one `house` parameter. `invalid_request`: malformed credentials.'),
              ...FAILURES,
            },
          },
          { scope: 'reports:read' },
        ),
      },
    },
  })
  Object.assign(document.info, ABOUT, {
    description: 'Get a token from the clearing-house API. Press _Authorize_ and paste the token. Then the call works.',
  })
  document.tags.push({ name: 'Reports', description: 'Sums of the statements of an account.' })
  Object.assign(document.components.schemas, {
    DailyTotal: object({
      day: DAY,
      statements: { type: 'integer' },
      total: {
        type: 'string',
        pattern: String.raw`^-?\d+\.\d\d$`,
        description: 'A decimal number as text, never rounded.',
      },
    }),
    HouseReport: object({ ...HOUSE, days: { type: 'array', items: refTo('DailyTotal') } }),
    DailyTotals: object({ houses: { type: 'array', items: refTo('HouseReport') } }),
    Problem,
  })
  return document
}

/** Members of `info` that both documents have. */
const ABOUT = {
  contact: { name: 'The maintainers of express-token-endpoint' },
  license: { name: 'MIT', identifier: 'MIT' },
}

const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** Returns the schema of an object whose members are all required. */
const object = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})

const HOUSE = { id: { type: 'string' }, name: { type: 'string' } }
const DAY = { type: 'string', format: 'date' }

const NO_STORE = {
  'Cache-Control': { description: 'Forbids caching.', required: true, schema: { const: 'no-store' } },
}

const json = (description: string, schema: string): Response => ({
  description,
  headers: NO_STORE,
  content: { 'application/json': { schema: refTo(schema) } },
})

/** Describes this app's own errors, which have fewer members than the package's. */
const Problem: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
  },
}

const problem = (description: string): Response => ({
  description,
  content: { 'application/problem+json': { schema: refTo('Problem') } },
})

const FAILURES_OF_ALL = {
  500: problem('`internal_error`: a bug in this app.'),
  503: {
    ...problem('`unavailable`: the database or the store of sessions is unreachable.'),
    headers: {
      'Retry-After': { description: 'Seconds until the next attempt.', required: true, schema: { type: 'integer' } },
    },
  },
}

const FAILURES = { 404: problem('`unknown_house`: no house has this id.'), ...FAILURES_OF_ALL }
