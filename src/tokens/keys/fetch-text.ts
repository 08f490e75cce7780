import { isUint8Array } from 'node:util/types'
import { withDeadline } from '../../concurrency/host-call.js'
import { limitTasks } from '../../concurrency/limit.js'

/** The response of a `fetch`, as far as it is used. A `Response` of any implementation fits. */
export interface KeysResponse {
  /** The status. Only `200` is accepted. */
  readonly status: number
  /** The URL of the response, if it is known. Another URL than that of the request is refused. */
  readonly url?: string
  /** True when redirects were followed, which is refused. */
  readonly redirected?: boolean
  /** The headers. */
  readonly headers: {
    /** Returns the value of a header. */
    get(name: string): string | null
  }
  /** The body: an async iterable of bytes. */
  readonly body: object | null
}

/** A function that fetches like the global `fetch`, for example through a proxy or with a private CA. */
export type KeysFetch = (
  url: string,
  init: { signal: AbortSignal; redirect: 'manual'; headers: Record<string, string> },
) => Promise<KeysResponse>

export interface FetchLimits {
  /** The time limit in milliseconds, until the last byte. */
  timeout: number
  /** The longest body in bytes. */
  sizeLimit: number
  fetch: KeysFetch | undefined
}

const HEADERS = {
  Accept: 'application/jwk-set+json, application/json',
  'Accept-Encoding': 'identity',
  // A shared cache may hold the keys from before a rotation.
  'Cache-Control': 'no-cache',
}

const GLOBAL: KeysFetch = (url, init) => fetch(url, init)

/**
 * The calls that the host's `fetch` and its bodies have not settled: at most 256, and 8 of one source of keys. Their time limit has passed,
 * but the host may still hold what they need.
 */
const limitUnsettled = limitTasks(
  { total: 256, perNetwork: 8 },
  () => new Error('too many calls of fetch have not settled. Reject them when "signal" aborts'),
)

type LimitCalls = <T>(call: () => PromiseLike<T> | T) => Promise<T>

/**
 * Creates the function that fetches the texts of one source of keys. It does not follow redirects, because a redirect could point to any
 * server. It aborts the request when the call ends. The limits also hold when the host's `fetch` ignores them.
 * @returns a function that rejects unless the response is a `200` in UTF-8 of the same URL, without a content coding, within all limits
 */
export function textFetcher({ timeout, ...limits }: FetchLimits): (url: string) => Promise<string> {
  const limited: LimitCalls = (call) => limitUnsettled(limits, call)
  return (url) => {
    const over = new AbortController()
    return withDeadline(timeout, get(url, limits, limited, over.signal)).finally(() => over.abort())
  }
}

async function get(
  url: string,
  { sizeLimit, fetch = GLOBAL }: Omit<FetchLimits, 'timeout'>,
  limited: LimitCalls,
  signal: AbortSignal,
): Promise<string> {
  const response = await limited(() => fetch(url, { signal, redirect: 'manual', headers: { ...HEADERS } }))
  if (response.status !== 200) throw new Error(`the status was ${response.status}, not 200`)
  if (response.redirected || (response.url && response.url !== url)) {
    throw new Error('the response is from a different URL')
  }
  // The limit counts bytes after decompression, and any number of compressed bytes can become none.
  const coding = response.headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity') throw new Error('the response is compressed')
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of untilAborted(response.body, limited, signal)) {
    if (!isUint8Array(chunk)) throw new Error('the body is not bytes')
    // An empty chunk counts too, because a body of empty chunks would never end.
    size += Math.max(1, chunk.length)
    if (size > sizeLimit) throw new Error(`the response is longer than ${sizeLimit} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}

/** Reads a body until its end, or until the signal, which the body may ignore. */
async function* untilAborted(body: object | null, limited: LimitCalls, signal: AbortSignal): AsyncGenerator<unknown> {
  if (!body) return
  const iterator = (body as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(new Error('the fetch has ended'))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })
  try {
    for (;;) {
      const { done, value } = await Promise.race([aborted, limited(() => iterator.next())])
      if (done) return
      yield value
    }
  } finally {
    aborted.catch(() => {})
    // Not awaited, because a body that hangs would not end.
    Promise.resolve(iterator.return?.()).catch(() => {})
  }
}
