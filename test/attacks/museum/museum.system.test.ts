import { afterEach, beforeEach, it, vi } from 'vitest'
import { expectAdmitted, NO_PACKAGES } from './exhibit.js'
import { EXHIBITS } from './exhibits/index.js'

// An exhibit may move the clock between two requests.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

it.skipIf(NO_PACKAGES).each(EXHIBITS.filter(([, { installed }]) => installed))(
  '%s passes the vulnerable version, and so does a valid request',
  (_id, exhibit) => expectAdmitted(exhibit),
)
