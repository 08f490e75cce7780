import type { AuthEvent } from 'express-token-endpoint'
import { explain } from './failure.js'

/** An event as one line; nothing for what went well. */
export function eventLine(event: AuthEvent): string | undefined {
  switch (event.type) {
    case 'token.issued':
      return undefined
    case 'dependency.failed':
      return `${event.type} ${event.dependency}: ${explain(event.error)}`
    case 'token.refused':
    case 'bearer.refused': {
      const { type, code, reason, accountId, address } = event
      const about = [reason, accountId && `account=${accountId}`, address && `from=${address}`]
      return [type, code, ...about].filter(Boolean).join(' ')
    }
  }
}
