import type { NextFunction, Request, RequestHandler, Response, Router } from 'express'
import type { limitTasks } from '../concurrency/limit.js'
import type { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError, type AuthErrorDetails, copyOf } from '../errors/auth-error.js'
import type { HeaderFacts } from '../errors/headers.js'
import type { Refusals } from '../errors/refusal.js'
import type { Emit, EventSubject, NewEvent } from '../events/emitter.js'
import type { AuthEvent } from '../events/events.js'
import { reportRefusal } from '../events/report-refusal.js'
import { own, resultOrUndefined } from '../options/values.js'
import { express } from '../packages/on-first-use.cjs'
import { type BodyLimits, createBodyReader } from './body.js'
import { assertOriginIn, assertOwnOrigin, mayBeOfBrowser } from './cross-site.js'
import {
  type Body,
  type CodesIn,
  type Declaration,
  type Declared,
  type ResultIn,
  refusalsOf,
  successesOf,
} from './declaration.js'
import { addressOf, originOfRequest, type RequestOrigin } from './origin.js'
import { type Refuse, sendRefusal } from './refuse.js'
import type { HttpResponse, RefreshMode } from './responses.js'
import { hasUnreadBody, sendResponse, setHeaders } from './send-response.js'

/** The names between braces in a path. */
type ParameterIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterIn<Rest> : never

/** Authenticates the requests of an endpoint. `A` is what the endpoint gets. */
export interface EndpointGuard<A> {
  /**
   * `'user'` refuses administrators who act as the user. `'recent'` also refuses an old sign-in. `'session'` admits everybody who has a
   * session.
   */
  readonly name: 'user' | 'session' | 'recent'
  /** @throws AuthError `invalid_token` for a request that the guard admits and the endpoint does not */
  admit(req: Request): A
}

/** One request of an endpoint. */
export interface Call {
  readonly req: Request
  readonly res: Response
  readonly origin: RequestOrigin
  /** The client of the events. */
  readonly about: EventSubject
  /** The place where the client keeps its refresh token. Undefined: it has none. */
  readonly mode: RefreshMode | undefined
  /** Reports an event of this client. */
  report(event: NewEvent<AuthEvent>): void
}

/** A request whose guard, body and parameters were read. */
export interface ReadCall<R extends Declared, B, A, Path> extends Call {
  readonly auth: A
  readonly body: B
  readonly params: Readonly<Record<ParameterIn<Path>, string>>
  /** Creates a refusal that the endpoint declares. */
  refuse(code: CodesIn<R>, details?: AuthErrorDetails): AuthError
}

/** The functions of an endpoint, for the dependencies `P` of its feature. */
interface Steps<P> {
  /** The queue in which requests wait before they are read. Default: they do not wait. */
  readonly turns?: ReturnType<typeof createTurnQueue>
  /** The limit of the requests in progress, after they were read. Default: the dependencies have their own. */
  readonly calls?: ReturnType<typeof limitTasks>
  /** Refuses a request before its body is read. */
  before?(parts: P): (call: Call) => void
}

/** An endpoint of a feature with the dependencies `P`. */
export interface Endpoint<P = never> extends Declaration, Steps<P> {
  readonly guard?: EndpointGuard<unknown> | undefined
  handle(parts: P): (call: never) => unknown
}

interface NewEndpoint<P, R extends Declared, B, A, Path extends string> extends Omit<Declaration, 'body' | 'guard'> {
  readonly path: Path
  readonly guard?: EndpointGuard<A>
  readonly body?: Body<B>
  readonly responses: R
  /** Called once for each router. Returns the function that is called for each request. */
  handle(parts: P): (call: ReadCall<R, B, A, Path>) => ResultIn<R> | Promise<ResultIn<R>>
}

/** Declares an endpoint. */
export const endpoint = <P, const R extends Declared, const Path extends string, B = undefined, A = undefined>(
  declared: NewEndpoint<P, R, B, A, Path> & Steps<P>,
): Endpoint<P> => declared

/** The settings and functions that all endpoints of a router have in common. */
export interface Service extends BodyLimits {
  emit: Emit
  refuse: Refuse | undefined
  /** The guards, by their names. Default: the router has no guarded endpoint. */
  guards?: Readonly<Record<EndpointGuard<unknown>['name'], RequestHandler>> | undefined
  /** The facts of the guards in the challenges of guarded endpoints. Default: the router has no guarded endpoint. */
  challenge?: HeaderFacts | undefined
  /** Returns where the client of a request keeps its refresh token. Default: no client has one. */
  modeOf?: ((req: Request) => RefreshMode | undefined) | undefined
  /** The only origins whose requests may have the cookie. Default: the own origin, and `allowedOrigins`. */
  cookieOrigins?: ReadonlySet<string> | undefined
}

/** An endpoint at its whole path, with its dependencies. */
export interface Mounted {
  readonly at: string
  readonly endpoint: Endpoint
  readonly parts: unknown
}

/** Returns the whole paths of an endpoint. */
export function pathsBelow(base: string, path: string): [string, ...string[]] {
  const root = base === '/' ? '' : base
  if (path === '/') return root === '' ? ['/'] : [root, `${root}/`]
  return [root + path || '/']
}

/** Creates the router of endpoints. Another method of a path that is only theirs gets a `405` that names the methods. */
export function endpointRouter(mounted: readonly Mounted[], service: Service): Router {
  const router = express().Router({ caseSensitive: true, strict: true })
  const paths = new Map<string, Mounted[]>()
  for (const one of mounted) {
    const [path] = pathsBelow(one.at, one.endpoint.path)
    paths.set(path, [...(paths.get(path) ?? []), one])
  }
  // A path with a parameter would take the requests of another one.
  const all = [...paths.values()].sort(([one], [other]) => Number(hasParameter(one)) - Number(hasParameter(other)))
  for (const ofPath of all) {
    const [{ at, endpoint: first }] = ofPath as [Mounted, ...Mounted[]]
    const [path, ...others] = pathsBelow(at, first.path)
    const patterns = [path, ...others].map(patternOf)
    for (const { endpoint: one, parts } of ofPath) {
      const handlers = [...guardsOf(one, service), handlerOf(one, parts as never, path, service)]
      const method = one.method.toLowerCase() as 'get' | 'post' | 'delete'
      if (one.sharesPath) router.all(patterns as string[], skipOthers(one), ...handlers)
      else router[method](patterns as string[], ...handlers)
    }
    if (first.sharesPath) continue
    router.all(
      patterns as string[],
      methodNotAllowed(
        ofPath.map(({ endpoint: one }) => one),
        service,
      ),
    )
  }
  return router
}

/** Skips the requests with another method. A route for one method would let Express respond to `OPTIONS`. */
function skipOthers(one: Endpoint): RequestHandler {
  const methods = methodsOf([one])
  return function otherMethodHandler(req, _res, next) {
    next(methods.includes(req.method) ? undefined : 'route')
  }
}

/** @throws TypeError without the guard that an endpoint needs */
function guardsOf({ id, guard }: Endpoint, { guards }: Service): RequestHandler[] {
  if (!guard) return []
  const ofApp = guards?.[guard.name]
  if (!ofApp) throw new TypeError(`The endpoint ${id} needs the guard "${guard.name}"`)
  return [ofApp]
}

const hasParameter = (one: Mounted | undefined) => one?.endpoint.path.includes('{')

/** Returns a path as Express takes it. It has no parameter, because Express responds itself when it cannot decode one. */
function patternOf(path: string): string | RegExp {
  if (!path.includes('{')) return path
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

/** Returns the parameters of a path, and an empty text for one that cannot be decoded. */
function paramsOf(at: string, { url }: Request): Record<string, string> {
  const names = at.split('/')
  // From the end: a plain server of Node has no `path`, and a proxy may send a whole URL.
  const segments = url.replace(/\?.*/s, '').split('/').slice(-names.length)
  const named = names.flatMap((one, i) => {
    const [, name] = /^\{(\w+)\}$/.exec(one) ?? []
    return name ? [[name, resultOrUndefined(() => decodeURIComponent(segments[i] ?? '')) ?? ''] as const] : []
  })
  return Object.fromEntries(named)
}

/** Returns the methods that a path has. */
export const methodsOf = (endpoints: readonly Pick<Declaration, 'method'>[]): string[] =>
  endpoints.flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : method))

/** Returns the refusal of the methods that a path does not have. */
export function wrongMethod(endpoints: readonly Pick<Declaration, 'method'>[]): AuthError {
  const error = new AuthError('method_not_allowed')
  return copyOf(error, { headers: { ...error.headers, Allow: methodsOf(endpoints).join(', ') } })
}

function methodNotAllowed(endpoints: readonly Endpoint[], service: Service): RequestHandler {
  const [first] = endpoints as [Endpoint, ...Endpoint[]]
  const refuse = refuserOf(first, service)
  return function methodNotAllowedHandler(req, res, next) {
    refuse(wrongMethod(endpoints), { address: addressOf(req) }, req, res, next)
  }
}

/** Returns the function that reports a refusal, and sends it. */
function refuserOf(declared: Endpoint, { emit, refuse, bodyLimit, challenge }: Service) {
  const refusals: Refusals = refusalsOf(declared)
  const limit = declared.body ? bodyLimit : 0
  const form = { refuse, isProblem: declared.isProblem }
  const facts = declared.guard && challenge
  return (thrown: unknown, about: EventSubject, req: Request, res: Response, next: NextFunction): void =>
    sendRefusal(form, reportRefusal(emit, about, refusals, thrown, facts), req, res, next, hasUnreadBody(req, limit))
}

/** Runs an endpoint: request → call → result → response. */
export function handlerOf<P>(declared: Endpoint<P>, parts: P, at: string, service: Service): RequestHandler {
  const { guard, origin: pages, body, turns, calls } = declared
  const { emit, modeOf, allowedOrigins, cookieOrigins, bodyLimit } = service
  const refused = refuserOf(declared as Endpoint, service)
  const before = declared.before?.(parts)
  const handle = declared.handle(parts) as (call: ReadCall<Declared, unknown, unknown, string>) => unknown
  const readBody = createBodyReader(service)
  const respond = responderOf(declared)

  /** Returns whether a page of another site can send a request without a preflight, and the browser adds its token. */
  const isEmptyForm = ({ method, headers }: Request) => guard && !body && method === 'POST' && mayBeOfBrowser(headers)

  /** Nothing is awaited before the body is read, because a listener of the host may already make it flow. */
  async function bodyOf({ req, mode, origin: { network } }: Call): Promise<unknown> {
    const onlyOf = body && own(body, 'of')
    if (!body || (onlyOf && mode !== onlyOf)) {
      await turns?.(network, req.socket)
      return undefined
    }
    const parse = await readBody(req, guard !== undefined && mayBeOfBrowser(req.headers))
    await turns?.(network, req.socket)
    const read = body.read(parse())
    if (read !== undefined) return read
    throw new AuthError('invalid_body', { message: body.message })
  }

  async function run(call: Call): Promise<HttpResponse> {
    const { req, mode, origin } = call
    before?.(call)
    const auth = guard?.admit(req)
    const sent = await bodyOf(call)
    if (pages && mode === 'cookie' && cookieOrigins) assertOriginIn(req.headers, cookieOrigins)
    else if (pages === 'own' || (pages && mode === 'cookie') || isEmptyForm(req))
      assertOwnOrigin(req.headers, allowedOrigins)
    const refuse = (code: AuthError['code'], details?: AuthErrorDetails) => new AuthError(code as never, details)
    const read = { ...call, auth, body: sent, params: paramsOf(at, req), refuse }
    return respond(await (calls ? calls(origin.network, async () => handle(read)) : handle(read)))
  }

  return async function endpointHandler(req, res, next) {
    try {
      const origin = originOfRequest(req)
      const about: EventSubject = { address: origin.address }
      const start = async () =>
        run({ req, res, origin, about, mode: pages && modeOf?.(req), report: (event) => emit(about, event) })
      const response = await start().catch((thrown: unknown) => refused(thrown, about, req, res, next))
      if (!response) return
      if (response.hasTag) sendTagged(res, response)
      else sendResponse(res, response, hasUnreadBody(req, body ? bodyLimit : 0))
    } catch (error) {
      // An error while sending belongs to the host, and the call has had its event.
      next(error)
    }
  }
}

/** Returns the function that makes the response of a result. */
function responderOf(declared: Declaration): (result: unknown) => HttpResponse {
  const successes = successesOf(declared).map(([, one]) => one)
  return (result) => {
    const success = successes.find(({ sample }) => (sample === undefined) === (result === undefined))
    if (success) return success.respond(result)
    throw new TypeError(`The endpoint ${declared.id} returned a result that it does not declare`)
  }
}

/** Sends a response with the `ETag` of Express. As bytes: Express adds a charset to text, which a media type may not have. */
function sendTagged(res: Response, { headers, body }: HttpResponse): void {
  setHeaders(res, headers)
  res.send(Buffer.from(body))
}
