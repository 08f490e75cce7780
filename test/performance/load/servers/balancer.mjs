// A load balancer of layer 4: each connection goes to the next server. It connects from the client's own loopback address, so
// the servers see the addresses of the clients.
import { connect, createServer } from 'node:net'

const ports = process.argv.slice(2).map(Number)
const counts = ports.map(() => 0)
let next = 0

const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
  client.on('error', () => {})
  forward(client, ports.length)
})

function forward(client, triesLeft) {
  const turn = next++ % ports.length
  const upstream = connect({ port: ports[turn], host: '127.0.0.1', localAddress: client.remoteAddress, noDelay: true })
  upstream.once('connect', () => {
    counts[turn]++
    client.pipe(upstream).pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  upstream.on('error', () => {
    if (upstream.bytesWritten > 0 || !upstream.connecting || triesLeft <= 1) return client.destroy()
    forward(client, triesLeft - 1)
  })
}

process.on('message', () => process.send({ counts: [...counts] }))
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', 1024, () => process.send({ port: server.address().port }))
