/** The reason for a failed call. `seconds` is the time after which the user may try again. */
export type CallFailure =
  | { kind: 'wrong-credentials' }
  | { kind: 'token-refused' }
  | { kind: 'scope-missing'; scope: string | undefined }
  | { kind: 'throttled'; seconds: number | undefined }
  | { kind: 'unavailable'; seconds: number | undefined }
  | { kind: 'unreachable' }
  | { kind: 'unexpected'; status: number }

/** Returns the failure for a response with an error status. */
export function failureOf({ status, headers }: Pick<Response, 'status' | 'headers'>): CallFailure {
  const challenge = headers.get('WWW-Authenticate')
  const seconds = secondsOf(headers.get('Retry-After'))
  switch (status) {
    case 401:
      return { kind: 'token-refused' }
    case 403:
      // The token endpoint sends no challenge with 403. A guard always names the missing scope.
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
