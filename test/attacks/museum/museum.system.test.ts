import { afterEach, beforeEach, it, vi } from 'vitest'
import { type Exhibit, expectAdmitted, NO_PACKAGES } from './exhibit.js'
import { EXHIBITS } from './exhibits/index.js'

// An exhibit may move the clock between two requests.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

it
  .skipIf(NO_PACKAGES)
  .each(
    EXHIBITS.flatMap((exhibit): [string, string, Exhibit][] =>
      exhibit.installed ? [[exhibit.id, exhibit.installed, exhibit]] : [],
    ),
  )('%s passes %s, and so does a valid request', (_id, _installed, exhibit) => expectAdmitted(exhibit))
