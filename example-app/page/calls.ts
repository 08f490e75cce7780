import { type CallFailure, failureOf } from './call-failure.js'
import { openSession, type Session, type TokenAnswer } from './session.js'

export type Outcome<T> = { value: T } | { failure: CallFailure }

export interface Statement {
  id: string
  day: string
  description: string
  amountCents: number
}

export interface HouseStatements {
  house: { id: string; name: string }
  statements: Statement[]
}

export interface HouseTotals {
  id: string
  name: string
  /** `total`: a decimal number as text. */
  days: { day: string; statements: number; total: string }[]
}

const PATIENCE_MS = 15_000

/** Gets a token from the clearing-house API. The URL is relative, because the API's server also serves this page. */
export async function signIn(email: string, password: string): Promise<Outcome<Session>> {
  return send(
    'api/v2013/authentication/token',
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password }),
    },
    async (answer) => openSession(email, (await answer.json()) as TokenAnswer),
  )
}

export async function signOut(session: Session): Promise<Outcome<void>> {
  return sendAs(session, 'api/v2013/sign-out', { method: 'POST' }, async () => {})
}

export async function statementsOf(session: Session, house: string): Promise<Outcome<HouseStatements>> {
  return sendAs(session, `api/v2013/houses/${house}/statements`, {}, json<HouseStatements>)
}

/** Gets the daily totals from the online reporting API. */
export async function dailyTotals(session: Session, reportingUrl: string): Promise<Outcome<HouseTotals[]>> {
  const url = `${reportingUrl.replace(/\/*$/, '')}/api/v2013/reports/daily-totals`
  return sendAs(session, url, {}, async (answer) => (await json<{ houses: HouseTotals[] }>(answer)).houses)
}

const json = async <T>(answer: Response) => (await answer.json()) as T

function sendAs<T>(
  session: Session,
  url: string,
  init: RequestInit,
  read: (answer: Response) => Promise<T>,
): Promise<Outcome<T>> {
  return send(url, { ...init, headers: session.headers(), signal: session.signal }, read)
}

async function send<T>(url: string, init: RequestInit, read: (answer: Response) => Promise<T>): Promise<Outcome<T>> {
  const late = AbortSignal.timeout(PATIENCE_MS)
  let answer: Response
  try {
    answer = await fetch(url, {
      ...init,
      cache: 'no-store',
      credentials: 'omit',
      // A redirect could send the password or the token to another server.
      redirect: 'error',
      signal: init.signal ? AbortSignal.any([init.signal, late]) : late,
    })
  } catch {
    return { failure: { kind: 'unreachable' } }
  }
  if (!answer.ok) return { failure: failureOf(answer) }
  try {
    return { value: await read(answer) }
  } catch {
    return { failure: { kind: 'unexpected', status: answer.status } }
  }
}
