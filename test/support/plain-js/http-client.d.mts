import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** A request. By default a POST to {@link TOKEN_PATH}. */
export interface Sent {
  method?: string
  path?: string
  headers?: OutgoingHttpHeaders
  body?: string | Uint8Array
  /** Aborting it closes the connection. */
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Names and values in turn, as the server sent them. */
  rawHeaders: string[]
  body: string
}

/** A response, and the time from its request to its end in milliseconds. */
export interface TimedAnswer extends Answer {
  ms: number
}

export type Send = (sent: Sent) => Promise<TimedAnswer>

export interface ClientOptions {
  connections?: number
  keepAlive?: boolean
  localAddress?: string
}

export const TOKEN_PATH: string
export const JSON_TYPE: { 'Content-Type': string }
export const FORM_TYPE: { 'Content-Type': string }
export function login(email: string, password: string, address?: string, path?: string): Sent & { body: string }
export function bearer(token: string, path: string): Sent
export function send(port: number, sent: Sent): Promise<TimedAnswer>
export function createClient(port: number, options?: ClientOptions): { send: Send; close: () => void }
export function requestText(sent: Sent): string
export function sendBytes(port: number, bytes: string | Uint8Array): Promise<string>
export function sendEndlessly(port: number, head: string, chunk: string): Promise<string>
export function flood(
  port: number,
  count: number,
  requestOf: (i: number) => Sent,
  connections?: number,
): Promise<Answer[]>
