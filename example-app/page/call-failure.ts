import { type RefusedSignIn, TokenClientError } from 'express-token-endpoint/client'

/** The reason for a failed call. `seconds` is the time after which the user may try again. */
export type CallFailure =
  | { kind: 'wrong-credentials' }
  | { kind: 'wrong-code' }
  | { kind: 'cancelled' }
  | { kind: 'token-refused' }
  | { kind: 'scope-missing'; scope: string | undefined }
  | { kind: 'throttled'; seconds: number | undefined }
  | { kind: 'unavailable'; seconds: number | undefined }
  | { kind: 'unreachable'; seconds: number | undefined }
  | { kind: 'unexpected'; status: number | undefined }

/** An error whose reason is known. */
export class CallError extends Error {
  readonly failure: CallFailure
  /** The refusal of the server, if it names a code. */
  readonly refused: RefusedSignIn | undefined

  constructor(failure: CallFailure, refused?: RefusedSignIn) {
    super(failure.kind)
    this.failure = failure
    this.refused = refused
  }
}

/** Returns the code in the body of a refusal, if it has one. */
export async function refusalOf(response: Response): Promise<RefusedSignIn | undefined> {
  const body = (await response.json().catch(() => null)) as { code?: unknown; detail?: unknown } | null
  const [code, detail] = [body?.code, body?.detail]
  return typeof code === 'string' ? { code, detail: typeof detail === 'string' ? detail : undefined } : undefined
}

/** Returns true for a refusal that asks for the code of an authenticator app. */
export const asksForCode = ({ code }: RefusedSignIn): boolean => code === 'code_required' || code === 'wrong_code'

/** The error of a call that needs another token. */
export class SessionOver extends Error {}

/** Returns the failure for an API's response with an error status. */
export function failureOfResponse({ status, headers }: Pick<Response, 'status' | 'headers'>): CallFailure {
  switch (status) {
    case 401:
      return { kind: 'token-refused' }
    case 403:
      return { kind: 'scope-missing', scope: /scope="([^"]*)"/.exec(headers.get('WWW-Authenticate') ?? '')?.[1] }
    case 429:
      return { kind: 'throttled', seconds: secondsOf(headers.get('Retry-After')) }
    case 503:
      return { kind: 'unavailable', seconds: secondsOf(headers.get('Retry-After')) }
    default:
      return { kind: 'unexpected', status }
  }
}

function secondsOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined
}

/** Returns the failure for an error of the client. */
export function failureOfError(error: unknown): CallFailure {
  if (error instanceof CallError) return error.failure
  if (error instanceof SessionOver) return { kind: 'token-refused' }
  if (!(error instanceof TokenClientError)) return { kind: 'unreachable', seconds: undefined }
  const { code, status, retryAt, refused } = error
  // Rounds down, because the client waits for the rest of a second itself.
  const seconds = retryAt && Math.floor((retryAt.getTime() - Date.now()) / 1000)
  switch (code) {
    case 'refused':
      if (refused?.code === 'invalid_credentials') return { kind: 'wrong-credentials' }
      return refused && asksForCode(refused) ? { kind: 'wrong-code' } : { kind: 'unexpected', status }
    case 'try_later':
      return { kind: status === 429 ? 'throttled' : 'unavailable', seconds }
    case 'unexpected':
      return { kind: 'unexpected', status }
    default:
      return { kind: 'unreachable', seconds }
  }
}
