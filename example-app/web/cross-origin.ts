import cors from 'cors'
import type { RequestHandler } from 'express'

/**
 * Lets the example's page, which another origin serves, call an API. Its browser asks beforehand without a token, so this
 * comes before the guard.
 * @param baseUrl where the page is
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

/** This machine goes by two names, and people type either. */
function originsOf(baseUrl: string): string[] {
  const names = ['127.0.0.1', 'localhost']
  const url = new URL(baseUrl)
  if (!names.includes(url.hostname)) return [url.origin]
  return names.map((hostname) => Object.assign(new URL(url), { hostname }).origin)
}
