import { type IncomingHttpHeaders, request as overHttp } from 'node:http'
import { request as overTls } from 'node:https'
import { codeOf, Fault, OutOfTime } from './verdict.js'

export interface Sent {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** A response of the app. */
export interface Received {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface SendLimits {
  /** Milliseconds for one request, until the last byte of the response. */
  timeout: number
  /** The longest response, in bytes. */
  sizeLimit: number
  /** The end of the whole check, on the clock of `performance.now()`. */
  endsAt: number
}

export type Send = (url: URL, sent?: Sent) => Promise<Received>

/**
 * Creates a function that sends each request unchanged on a new connection. It follows no redirect, so only the named server
 * receives the password. It does not use `fetch`, which adds headers.
 */
export function sender({ timeout, sizeLimit, endsAt }: SendLimits): Send {
  return (url, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const left = Math.ceil(endsAt - performance.now())
      if (left <= 0) return reject(new OutOfTime())
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
      const signal = AbortSignal.timeout(Math.min(timeout, left))
      const send = url.protocol === 'https:' ? overTls : overHttp
      const failed = (what: string) => reject(new Fault(`no response: ${what}`))
      const fail = (error: Error) => {
        if (!signal.aborted) return failed(codeOf(error))
        return left < timeout ? reject(new OutOfTime()) : failed(`none within ${timeout} ms`)
      }
      const req = send(url, { method, headers: { ...length, ...headers }, agent: false, signal })
      // The server may respond and close the connection before it has read the whole body. Then this error is ignored.
      req.on('error', fail)
      // Without a listener, Node would close the connection silently.
      req.on('upgrade', (_res, socket) => {
        failed('101, to switch to a different protocol')
        socket.destroy()
      })
      req.on('response', (res) => {
        const chunks: Buffer[] = []
        let size = 0
        res.on('data', (chunk: Buffer) => {
          size += chunk.length
          chunks.push(chunk)
          if (size <= sizeLimit) return
          // Fails before destroy(), because the response may end in the same event.
          failed(`the response is longer than ${sizeLimit} bytes`)
          req.destroy()
        })
        res.on('error', fail)
        res.on('end', () => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() })
        })
      })
      req.end(body)
    })
}
