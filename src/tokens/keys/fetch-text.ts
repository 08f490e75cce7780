import { withDeadline } from '../../shared/host/host-call.js'

/**
 * Fetches a small text. Does not follow redirects, because a redirect could point to any server. Aborts the request when the call
 * ends.
 * @param timeout the time limit in milliseconds, until the last byte
 * @param sizeLimit the longest body in bytes
 * @throws Error unless the response is a `200` in UTF-8, without a content coding, within both limits
 */
export function fetchText(url: string, timeout: number, sizeLimit: number): Promise<string> {
  const over = new AbortController()
  return withDeadline(timeout, get(url, sizeLimit, over.signal)).finally(() => over.abort())
}

const HEADERS = {
  Accept: 'application/jwk-set+json, application/json',
  'Accept-Encoding': 'identity',
  // A shared cache may hold the keys from before a rotation.
  'Cache-Control': 'no-cache',
}

async function get(url: string, sizeLimit: number, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal, redirect: 'manual', headers: HEADERS })
  if (response.status !== 200) throw new Error(`the status was ${response.status}, not 200`)
  // The limit counts bytes after decompression, and any number of compressed bytes can become none.
  const coding = response.headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity') throw new Error('the response is compressed')
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > sizeLimit) throw new Error(`the response is longer than ${sizeLimit} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}
