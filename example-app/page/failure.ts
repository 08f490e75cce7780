/** Why a call did not bring what it was for. `seconds`: after how many it may be tried again. */
export type Failure =
  | { kind: 'wrong-credentials' }
  | { kind: 'token-refused' }
  | { kind: 'scope-missing'; scope: string | undefined }
  | { kind: 'throttled'; seconds: number | undefined }
  | { kind: 'unavailable'; seconds: number | undefined }
  | { kind: 'unreachable' }
  | { kind: 'unexpected'; status: number }

/** An answer with another status than the one hoped for. */
export function failureOf({ status, headers }: Pick<Response, 'status' | 'headers'>): Failure {
  const challenge = headers.get('WWW-Authenticate')
  const seconds = secondsOf(headers.get('Retry-After'))
  switch (status) {
    case 401:
      return { kind: 'token-refused' }
    case 403:
      // The token call says no more than this, and a guard always tells which scope.
      return challenge === null
        ? { kind: 'wrong-credentials' }
        : { kind: 'scope-missing', scope: /scope="([^"]*)"/.exec(challenge)?.[1] }
    case 429:
      return { kind: 'throttled', seconds }
    case 503:
      return { kind: 'unavailable', seconds }
    default:
      return { kind: 'unexpected', status }
  }
}

function secondsOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined
}
