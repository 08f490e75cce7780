// The attacker: 256 connections. Each sends the next guess after its response, or `pause` ms later.
import { createClient, login } from '../../../support/plain-js/http-client.mjs'

const [port, addresses, pause] = process.argv.slice(2)
const { send } = createClient(Number(port), { connections: 256 })
const counts = {}
let running = true
let n = 0

async function guessOnAndOn() {
  while (running) {
    const i = n++
    const address = addresses === 'one' ? '203.0.113.9' : `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
    const email = addresses === 'one' ? 'known0@example.com' : `user${i}@example.com`
    const outcome = await send(login(email, `guess ${i}`, address)).then(
      ({ status }) => status,
      (error) => error.code,
    )
    counts[outcome] = (counts[outcome] ?? 0) + 1
    if (outcome !== 403 && Number(pause) > 0) {
      // Not all at the same moment.
      await new Promise((resolve) => setTimeout(resolve, Number(pause) * (0.5 + Math.random())))
    }
  }
}

const all = Promise.all(Array.from({ length: 256 }, guessOnAndOn))
process.send('started')
process.on('message', async () => {
  running = false
  await all
  process.send(counts)
})
process.on('disconnect', () => process.exit())
