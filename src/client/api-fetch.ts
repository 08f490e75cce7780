import type { Settings } from './client-options.js'
import type { TokenClient } from './client-types.js'
import type { Session } from './session.js'
import type { TokenHolder } from './token-holder.js'

export interface ApiFetch {
  readonly fetch: TokenClient['fetch']
  /** @throws TypeError for a URL of an origin that must not get the token, and for a relative URL */
  checkUrl(url: string | URL): URL
}

export function createApiFetch(settings: Settings, holder: TokenHolder): ApiFetch {
  const { base, origins, onStepUp } = settings

  function checkUrl(url: string | URL): URL {
    const read = new URL(url)
    if (origins.has(read.origin)) return read
    throw new TypeError(`${read.origin} must not get the token. Add it to "origins".`)
  }

  /** Appends a path to the base URL. Text that does not begin with a scheme cannot change the host. */
  const absolute = (text: string) =>
    /^[a-z][a-z\d+.-]*:/i.test(text) ? text : base + (text.startsWith('/') ? '' : '/') + text

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const request = typeof input === 'object' && 'clone' in input ? input : undefined
    const url = checkUrl(request ? request.url : absolute(String(input)))
    // A Request has its members on its prototype, so a copy would lose them.
    if ('clone' in init) return await fetch(new Request(url, init))
    const signal = init.signal ?? request?.signal
    const isRepeatable = canSendTwice(init.body)

    const send = (session: Session, isLast: boolean) => {
      const headers = new Headers(init.headers ?? request?.headers)
      headers.set('Authorization', `Bearer ${session.grant.token}`)
      // The body of a Request can be read once.
      const target = request && !isLast ? request.clone() : (request ?? url)
      return settings.fetch(target, { ...init, headers, signal: signal ?? null })
    }

    const session = await holder.get({ signal })
    const response = await send(session, !isRepeatable)
    if (response.status !== 401) return response
    const refusal = await readRefusal(response)
    const wantsToken = refusal && holder.refuse(session, refusal === 'invalid')
    if (!wantsToken || !isRepeatable) return response
    response.body?.cancel().catch(() => {})
    return send(await holder.get({ signal }, session), true)
  }

  /** Returns why an API wants another token. Undefined when a new token would not help. */
  async function readRefusal(response: Response): Promise<'invalid' | 'step-up' | undefined> {
    const challenge = response.headers.get('WWW-Authenticate')
    // The specification has no challenge, and a page cannot read the header unless the API exposes it.
    if (challenge === null) return 'invalid'
    const [, error] = /\bBearer\b.*?[\s,]error *= *"?(\w+)/i.exec(challenge) ?? []
    if (error === 'invalid_token') return 'invalid'
    const isStepUp = error === 'insufficient_user_authentication' && (await onStepUp(response)) === true
    return isStepUp ? 'step-up' : undefined
  }

  return { fetch, checkUrl }
}

/** Returns whether a body is still complete after it was sent. A stream is not. */
function canSendTwice(body: RequestInit['body']): boolean {
  const isWhole = [ArrayBuffer, Blob, FormData, URLSearchParams].some((type) => body instanceof type)
  return body === undefined || body === null || typeof body === 'string' || ArrayBuffer.isView(body) || isWhole
}
