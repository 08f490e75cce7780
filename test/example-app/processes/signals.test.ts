import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { stopOnSignals } from '../../../example-app/processes/signals.js'

let send: () => void
const exit = vi.fn()

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(process, 'exit').mockImplementation(exit as never)
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(process, 'on').mockImplementation((_signal, listener) => {
    send = listener as () => void
    return process
  })
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  exit.mockReset()
})

test('exits with 1 when requests are still in flight after ten seconds', async () => {
  stopOnSignals(() => new Promise(() => {}))
  send()
  await vi.advanceTimersByTimeAsync(9_999)
  expect(exit).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(exit).toHaveBeenCalledExactlyOnceWith(1)
})
