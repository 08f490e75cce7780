import type { AuthEvent, AuthObserver } from 'express-token-endpoint'
import { explain, messageOf } from '../errors.js'

/** Returns an observer that logs refusals, failures, and what happens to accounts. */
export function observer(log: (line: string) => void): AuthObserver {
  return (event) => {
    const line = eventLine(event)
    if (line) log(line)
  }
}

/** Returns an event as one line, or undefined for an event that is not logged. */
function eventLine(event: AuthEvent): string | undefined {
  switch (event.type) {
    case 'dependency.failed': {
      const { type, dependency, error } = event
      // An unreachable Redis is not a bug, so the line has no stack.
      return `${type} ${dependency}: ${dependency === 'limits' ? messageOf(error) : explain(error)}`
    }
    case 'token.throttled':
    case 'token.overloaded':
      return lineOf(event.type, event.address && `from=${event.address}`)
    case 'token.refused':
    case 'bearer.refused': {
      const { type, code, reason, accountId, address } = event
      return lineOf(type, code, reason, accountId && `account=${accountId}`, address && `from=${address}`)
    }
    case 'account.created':
    case 'account.removed':
    case 'password.changed':
    case 'address.changed': {
      const { type, accountId, address } = event
      return lineOf(type, `account=${accountId}`, address && `from=${address}`)
    }
    // A minor version of the package may add events.
    default:
      return undefined
  }
}

function lineOf(...parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join(' ')
}
