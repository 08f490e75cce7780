import type { Feature } from '../features/feature.js'
import { endpointsAt, FEATURES } from '../features/features.js'
import { pathsBelow } from '../http/endpoint.js'
import { FACTOR_REFUSALS } from '../login/second-factor.js'
import { type OpenApiOptions, readOpenApiOptions } from './document-options.js'
import { guardComponents } from './guarded-operation.js'
import { operationOf } from './operation.js'
import { authProblem } from './problem.js'
import type { OpenApiDocument, Operation, PathItem, Schema } from './types.js'

const TAG = { name: 'Authentication', description: 'Tokens, the keys that verify them, and sessions.' }

/**
 * Creates the OpenAPI 3.1 document of the token endpoint with its refresh, the public keys and the sessions. Its components have the
 * bearer scheme and the guard's responses. Each call returns a new document, so the host can add operations to it.
 * @throws TypeError that names the invalid option
 */
export function openApiDocument(options?: OpenApiOptions): OpenApiDocument {
  const read = readOpenApiOptions(options)
  const { title, version, servers, schemeName } = read
  const isOn = featuresIn(read)
  const refusals = [...read.refusals, ...(isOn.secondFactor ? FACTOR_REFUSALS : [])]
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title, version },
    ...(servers.length > 0 && { servers: servers.map((url) => ({ url })) }),
    tags: Object.values(isOn).includes(true) ? [TAG] : [],
    paths: { ...pathsOf(read, isOn), ...read.paths },
    components: {
      schemas: { ...schemasOf(read, isOn), AuthProblem: authProblem(refusals, read.account !== undefined) },
      responses: guardComponents(),
      securitySchemes: { [schemeName]: BEARER },
    },
  }
  if (read.paths) removeUnused(document)
  return structuredClone(document)
}

/** Removes the components that no operation uses. Linters complain about them. */
function removeUnused({ paths, components }: OpenApiDocument): void {
  const keep = (kind: 'responses' | 'schemas', users: unknown) => {
    const text = JSON.stringify(users)
    for (const name of Object.keys(components[kind])) {
      if (!text.includes(`"#/components/${kind}/${name}"`)) delete components[kind][name]
    }
  }
  keep('responses', paths)
  keep('schemas', [paths, components.responses])
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Partial<Operation>[])
  const used = operations.flatMap(({ security = [] }) => security.flatMap(Object.keys))
  for (const name of Object.keys(components.securitySchemes)) {
    if (!used.includes(name)) delete components.securitySchemes[name]
  }
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The token from the response of the token endpoint (RFC 6750 section 2.1).',
}

type Read = ReturnType<typeof readOpenApiOptions>

/** Returns which features the app has. */
const featuresIn = ({ path, refresh, jwks, sessions, stepUp, account }: Read) => ({
  signIn: path !== undefined,
  refresh: path !== undefined && refresh.length > 0,
  keys: jwks !== undefined,
  sessions: sessions !== undefined,
  stepUp: path !== undefined && stepUp,
  signUp: account?.signUp !== undefined,
  passwordReset: account?.passwordReset === true,
  changePassword: account?.changePassword === true,
  changeAddress: account?.changeAddress === true,
  deletion: account?.deletion === true,
  apiKeys: account?.apiKeys === true,
  secondFactor: account?.secondFactor !== undefined,
  passkeys: account?.passkeys === true,
  passkeySignIn: path !== undefined && account?.passkeys === true,
  signInByMail: path !== undefined && account?.signInByMail === true,
})
type FeaturesOn = ReturnType<typeof featuresIn>

/** Returns the operations of the features of the app. */
function pathsOf(read: Read, isOn: FeaturesOn): Record<string, PathItem> {
  const { path: token = '', sessions = '', jwks: keys = '', refresh: modes, tokenResponse, account } = read
  const described = {
    ...read,
    modes,
    hasFactors: isOn.secondFactor,
    responds: tokenResponse !== undefined,
    tag: TAG.name,
  }
  const mounted = endpointsAt({ token, sessions, keys, account: account?.path ?? '' }, isOn)
  const paths: Record<string, PathItem> = {}
  for (const { at, endpoint } of mounted) {
    const [path = at] = pathsBelow(at, endpoint.path)
    const ofPath = mounted.filter((other) => other.at === at && other.endpoint.path === endpoint.path)
    const operation = operationOf(
      endpoint,
      ofPath.map((other) => other.endpoint),
      described,
    )
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation }
  }
  return paths
}

/** Returns the schemas of the features of the app. */
function schemasOf(read: Read, isOn: FeaturesOn): Record<string, Schema> {
  const { refresh: modes, account } = read
  const signUpFields = account?.signUp?.fields ?? []
  const described = { ...read, modes, signUpFields, passkeys: isOn.passkeys, hasFactors: isOn.secondFactor }
  const all = Object.entries(FEATURES).map(([name, feature]: [string, Feature]) =>
    isOn[name as keyof typeof isOn] ? feature.schemas?.(described) : {},
  )
  return Object.assign({}, ...all)
}
