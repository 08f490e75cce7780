import { type Credentials, createTokenClient, TokenClientError } from 'express-token-endpoint/client'
import type { ApiUrls } from '../config.js'
import { LaterError, OperatorError } from '../errors.js'

export interface TotalsRequest extends ApiUrls {
  /** The account of the service. */
  account: Credentials
  /** Undefined: all houses. */
  house: string | undefined
  /** Aborts when the command must end. */
  signal: AbortSignal
}

interface HouseTotals {
  id: string
  days: { day: string; total: string }[]
}

/**
 * Signs in at the clearing-house API, and calls the online reporting API with the token.
 * @throws OperatorError or LaterError
 */
export async function dailyTotals({ account, clearingHouse, reporting, house, signal }: TotalsRequest) {
  const client = createTokenClient({
    url: clearingHouse,
    origins: [new URL(reporting).origin],
    credentials: () => account,
  })
  const query = house === undefined ? '' : `?${new URLSearchParams({ house })}`
  let response: Response
  try {
    response = await client.fetch(`${reporting}/api/v2013/reports/daily-totals${query}`, { signal })
    if (response.ok) return ((await response.json()) as { houses: HouseTotals[] }).houses
  } catch (error) {
    if (signal.aborted) throw new LaterError('The APIs took too long. Try again later.')
    throw error instanceof TokenClientError
      ? signInError(error, clearingHouse)
      : new LaterError(`Cannot read the totals from the online reporting API at ${reporting}. Check REPORTING_URL.`)
  } finally {
    client.close()
  }
  throw responseError(response, reporting)
}

/** Returns what the operator can do about a failed sign-in. */
function signInError({ code, status, retryAt }: TokenClientError, url: string): OperatorError {
  const api = `The clearing-house API at ${url}`
  switch (code) {
    case 'refused':
      return new OperatorError(`${api} refused the account. Check SERVICE_EMAIL and SERVICE_PASSWORD.`)
    case 'try_later':
      return new LaterError(`${api} accepts no sign-in at the moment. Try again after ${retryAt?.toISOString()}.`)
    case 'unreachable':
      return new LaterError(`${api} is unreachable. Check BASE_URL.`)
    default:
      return new OperatorError(`${api} sent an unexpected response (status ${status}). Check BASE_URL.`)
  }
}

/** Returns what the operator can do about a response with an error status. */
function responseError({ status }: Response, url: string): OperatorError {
  const api = `The online reporting API at ${url}`
  switch (status) {
    case 401:
      return new OperatorError(`${api} refused the token. Check that BASE_URL and REPORTING_URL belong together.`)
    case 403:
      return new OperatorError('The account lacks the scope reports:read.')
    case 404:
      return new OperatorError(`${api} does not know the house.`)
    case 503:
      return new LaterError(`${api} is not available at the moment. Try again later.`)
    default:
      return new OperatorError(`${api} sent an unexpected response (status ${status}). Check REPORTING_URL.`)
  }
}
