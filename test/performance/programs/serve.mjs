import { createServer } from 'node:http'

/** Runs a task one time after the other. Returns the microseconds of processor time of one time. A clock would count other programs too. */
export async function microsecondsOf(count, task) {
  const started = process.cpuUsage()
  for (let i = 0; i < count; i++) await task(i)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / count
}

/** The response of all guarded routes, and of the open routes that they are compared with. */
export const respond = (_req, res) => res.json({ account: 'acc-1', statements: [] })

/** Serves an app on a free port of loopback, and sends the port and details to the bench. The process ends with the bench. */
export function serve(app, details) {
  const server = createServer(app)
  // Connections are kept while other servers are measured.
  server.keepAliveTimeout = 0
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    process.send({ port: server.address().port, ...details }),
  )
  process.on('disconnect', () => process.exit())
}
