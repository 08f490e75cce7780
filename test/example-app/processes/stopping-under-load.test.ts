import { expect, test } from 'vitest'
import { ALICE, loginInFlight, start, tempDir } from '../support.js'

test('finishes two hundred logins in flight, resets no connection, and exits with 0', async () => {
  const app = await start({ DATA_DIR: await tempDir() })
  const emails = Array.from({ length: 200 }, (_, i) => (i % 20 === 0 ? ALICE.email : `nobody${i}@example.com`))
  const logins = await Promise.all(emails.map((email) => loginInFlight(app.url, email)))
  app.kill('SIGTERM')
  await app.printed('Stopping')
  const responses = await Promise.all(logins.map((send) => send()))
  const statuses = responses.map(({ status }) => status)
  expect(statuses).toHaveLength(200)
  expect(statuses.filter((status) => ![200, 403, 429, 503].includes(status ?? 0))).toEqual([])
  expect(statuses).toContain(200)
  expect(await app.exit).toEqual({ code: 0, signal: null })
})
