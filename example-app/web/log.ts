import type { AuthEvent, AuthObserver } from 'express-token-endpoint'
import { explain, messageOf } from '../failure.js'

/** Tells a log of what was refused or failed. */
export function observer(log: (line: string) => void): AuthObserver {
  return (event) => {
    const line = eventLine(event)
    if (line) log(line)
  }
}

/** An event as one line; nothing for what went well. */
function eventLine(event: AuthEvent): string | undefined {
  switch (event.type) {
    case 'token.issued':
      return undefined
    case 'dependency.failed': {
      const { type, dependency, error } = event
      // A throttle's shared store that is away is no bug, whatever its client throws.
      return `${type} ${dependency}: ${dependency === 'throttle' ? messageOf(error) : explain(error)}`
    }
    case 'token.throttled':
    case 'token.overloaded':
      return lineOf(event.type, event.address && `from=${event.address}`)
    case 'token.refused':
    case 'bearer.refused': {
      const { type, code, reason, accountId, address } = event
      return lineOf(type, code, reason, accountId && `account=${accountId}`, address && `from=${address}`)
    }
  }
}

function lineOf(...parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join(' ')
}
