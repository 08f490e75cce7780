import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { requestText } from '../../support/plain-js/http-client.mjs'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { startClient } from './start-client.mjs'

async function serve(answer) {
  const server = createServer(answer)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = await startClient()
  onTestFinished(() => {
    client.stop()
    server.closeAllConnections()
    server.close()
  })
  return { port: server.address().port, client }
}
const texts = ['/a', '/b', '/c'].map((path) => requestText({ method: 'GET', path }))

it('counts the responses by status, whatever their lengths', async () => {
  const statuses = { '/a': 200, '/b': 403, '/c': 503 }
  const { port, client } = await serve((req, res) => {
    res.statusCode = statuses[req.url]
    res.end(req.url.repeat(res.statusCode * 50))
  })
  const load = await (await client.connect(port, 1)).load(texts, { depth: 3 })
  const { total, statuses: found, times } = await load.run(1)
  expect(found).toEqual({ 200: total / 3, 403: total / 3, 503: total / 3 })
  expect(times).toHaveLength(total / 3)
})

it('opens a connection again that the server closes, and sends the next text on it', async () => {
  const asked = []
  const { port, client } = await serve((req, res) => {
    asked.push(req.url)
    if (req.url === '/b') req.socket.destroy()
    else res.end('x')
  })
  const load = await (await client.connect(port, 1)).load(texts)
  await load.start()
  while (asked.length < 3) await new Promise(setImmediate)
  const { closed, total } = await load.stop()
  expect(asked.slice(0, 3)).toEqual(['/a', '/b', '/c'])
  expect(asked).toHaveLength(total + closed)
})

it('fails for a response without a length, and for a server that accepts no connection', async () => {
  const { port, client } = await serve((_req, res) => {
    res.write('x')
    res.end()
  })
  const load = await (await client.connect(port, 1)).load(texts)
  await expect(load.run(1)).rejects.toThrow('a response without a length: HTTP/1.1 200 OK')
  await expect(client.connect(await freePort(), 1)).rejects.toThrow('ECONNREFUSED')
})
