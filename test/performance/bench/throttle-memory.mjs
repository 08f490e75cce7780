// Measures the memory of failed logins. It runs in its own process with --expose-gc, so that nothing else uses the heap.
import { createThrottle } from 'express-token-endpoint'
import { retained } from './measure/retained.mjs'

const COUNT = 1_000_000
const addressOf = (i) =>
  i % 2
    ? `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
    : `2001:db8:${(i >> 16).toString(16)}:${(i & 65535).toString(16)}::1`

const before = await retained()
const throttle = createThrottle()
for (let i = 0; i < COUNT; i++) await throttle.spend(`user${i}@example.com`, addressOf(i), () => {})
const size = (await retained()) - before
// The throttle is still in use.
await throttle.spend('last@example.com', '192.0.2.1', () => {})
process.send({ count: COUNT, size })
process.disconnect()
