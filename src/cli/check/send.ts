import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request as overHttp } from 'node:http'
import { request as overTls } from 'node:https'

import { Fault } from './verdict.js'

export interface Sent {
  method?: string
  /** A list is sent as so many header lines. */
  headers?: OutgoingHttpHeaders
  body?: string
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface SendLimits {
  /** Milliseconds for one request, down to the last byte of its answer. */
  timeout: number
  /** The longest answer, in bytes. */
  sizeLimit: number
}

export type Send = (url: URL, sent?: Sent) => Promise<Answer>

/**
 * Sends requests as they are written, each on a connection of its own, and follows no redirect: who gets the password is whom it
 * was meant for. Not `fetch`, which joins two header lines of a name into one.
 */
export function sender({ timeout, sizeLimit }: SendLimits): Send {
  return (url, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
      const signal = AbortSignal.timeout(timeout)
      const send = url.protocol === 'https:' ? overTls : overHttp
      const fail = ({ message, code }: NodeJS.ErrnoException) =>
        reject(new Fault(`no answer: ${signal.aborted ? `none within ${timeout} ms` : message || code}`))
      const req = send(url, { method, headers: { ...length, ...headers }, agent: false, signal })
      // The server may answer, and cut the connection, before it has read all: then this comes too late to matter.
      req.on('error', fail)
      // Without this Node would cut the connection, and say nothing of it.
      req.on('upgrade', (_res, socket) => {
        fail(new Error('101, to speak another protocol'))
        socket.destroy()
      })
      req.on('response', (res) => {
        const chunks: Buffer[] = []
        let size = 0
        res.on('data', (chunk: Buffer) => {
          size += chunk.length
          chunks.push(chunk)
          if (size <= sizeLimit) return
          // At once: its end may come in the same breath.
          fail(new Error(`the answer is longer than ${sizeLimit} bytes`))
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
