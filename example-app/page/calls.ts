import { type CallFailure, failureOfError, failureOfResponse } from './call-failure.js'
import type { PageClient } from './client.js'

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

/** A session of the account. Times are ISO 8601. */
export interface Device {
  id: string
  lastUsedAt: string
  address: string | null
  userAgent: string | null
  label: string | null
  current: boolean
}

const SESSIONS = '/api/v2013/sessions'

const PATIENCE_MS = 15_000

export async function devicesOf(client: PageClient, signal: AbortSignal): Promise<Outcome<Device[]>> {
  return send(client, SESSIONS, { signal }, async (answer) => (await json<{ sessions: Device[] }>(answer)).sessions)
}

/** Ends the session of another device. */
export async function endDevice(client: PageClient, id: string, signal: AbortSignal): Promise<Outcome<void>> {
  return send(client, `${SESSIONS}/${encodeURIComponent(id)}`, { method: 'DELETE', signal }, async () => {})
}

export async function statementsOf(
  client: PageClient,
  house: string,
  signal: AbortSignal,
): Promise<Outcome<HouseStatements>> {
  return send(client, `/api/v2013/houses/${house}/statements`, { signal }, json<HouseStatements>)
}

/** Gets the daily totals from the online reporting API. */
export async function dailyTotals(
  client: PageClient,
  reportingUrl: string,
  signal: AbortSignal,
): Promise<Outcome<HouseTotals[]>> {
  const url = `${reportingUrl.replace(/\/*$/, '')}/api/v2013/reports/daily-totals`
  return send(client, url, { signal }, async (answer) => (await json<{ houses: HouseTotals[] }>(answer)).houses)
}

const json = async <T>(answer: Response) => (await answer.json()) as T

async function send<T>(
  client: PageClient,
  url: string,
  { signal, ...init }: RequestInit & { signal: AbortSignal },
  read: (answer: Response) => Promise<T>,
): Promise<Outcome<T>> {
  const late = AbortSignal.timeout(PATIENCE_MS)
  let answer: Response
  try {
    answer = await client.fetch(url, { ...init, signal: AbortSignal.any([signal, late]) })
  } catch (error) {
    return { failure: failureOfError(error) }
  }
  if (!answer.ok) return { failure: failureOfResponse(answer) }
  try {
    return { value: await read(answer) }
  } catch {
    return { failure: { kind: 'unexpected', status: answer.status } }
  }
}
