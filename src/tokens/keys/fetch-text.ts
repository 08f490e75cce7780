import { withDeadline } from '../../shared/host-call.js'

export interface FetchLimits {
  /** Milliseconds for all of it, down to the last byte. */
  timeout: number
  /** The longest answer, in bytes, unpacked. */
  sizeLimit: number
}

/**
 * Gets a small text. Redirects are not followed: who may send us elsewhere may send us anywhere. When it ends, for better or
 * worse, nothing of it is left pending.
 * @throws Error for any answer but a `200` in UTF-8 that is small enough and comes in time
 */
export function fetchText(url: string, { timeout, sizeLimit }: FetchLimits): Promise<string> {
  const over = new AbortController()
  return withDeadline(timeout, () => get(url, sizeLimit, over.signal)).finally(() => over.abort())
}

const HEADERS = {
  Accept: 'application/jwk-set+json, application/json',
  // A shared cache may hold what was there before a rotation.
  'Cache-Control': 'no-cache',
}

async function get(url: string, sizeLimit: number, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal, redirect: 'manual', headers: HEADERS })
  if (response.status !== 200) throw new Error(`the answer was ${response.status}, not 200`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > sizeLimit) throw new Error(`the answer is longer than ${sizeLimit} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}
