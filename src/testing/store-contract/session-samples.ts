import { randomUUID } from 'node:crypto'
import { LONGEST_TEXTS, type Session } from '../../sessions/session.js'

const HOUR = 3_600_000

/** A new session with an `age` in milliseconds, so that the sessions of a check have an order. */
export function newSession(accountId: string, start: number, age: number, more: Partial<Session> = {}): Session {
  return {
    id: randomUUID(),
    accountId,
    createdAt: new Date(start + age),
    expiresAt: new Date(start + age + HOUR),
    lastUsedAt: new Date(start + age),
    address: '2001:db8::1',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
    label: 'Ann’s 💻 \\ "work"; --',
    terms: null,
    data: null,
    ...more,
  }
}

/** The longest texts that the package stores, with letters of several bytes as a client can send them. */
export const LONGEST = {
  address: ['An', 'f'.repeat(LONGEST_TEXTS.address)],
  userAgent: ['A', 'é'.repeat(LONGEST_TEXTS.userAgent)],
  label: ['A', '💻'.repeat(LONGEST_TEXTS.label)],
} as const
