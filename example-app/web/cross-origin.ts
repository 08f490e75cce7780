import cors from 'cors'
import type { RequestHandler } from 'express'

/**
 * Lets the example's page call an API on another origin. Mount it before the guard, because a browser's preflight request has no token.
 * @param baseUrl address of the page
 */
export function allowPage(baseUrl: string): RequestHandler {
  return cors({
    origin: originsOf(baseUrl),
    methods: ['GET'],
    allowedHeaders: ['Authorization'],
    exposedHeaders: ['Retry-After', 'WWW-Authenticate'],
    maxAge: 600,
  })
}

/** Returns two origins for this machine, because people type either name. */
function originsOf(baseUrl: string): string[] {
  const names = ['127.0.0.1', 'localhost']
  const url = new URL(baseUrl)
  if (!names.includes(url.hostname)) return [url.origin]
  return names.map((hostname) => Object.assign(new URL(url), { hostname }).origin)
}
