// A cheap load generator that leaves the cores to the servers. Each connection sends many requests in one write, and the next
// write after all responses have arrived. Every response must be a 200 with the length of the first response.
import { once } from 'node:events'
import { connect } from 'node:net'

const STATUS = 'HTTP/1.1 200'
const HEAD_END = '\r\n\r\n'

function lengthOf(piece) {
  const text = piece.toString('latin1')
  const body = /^content-length: (\d+)\r$/im.exec(text)?.[1]
  if (!text.includes(HEAD_END) || body === undefined) throw new Error('the answer has no length')
  return text.indexOf(HEAD_END) + HEAD_END.length + Number(body)
}

async function run({ ports, connections, depth, request, milliseconds }) {
  const batch = request.repeat(depth)
  const sockets = Array.from({ length: connections }, (_, i) =>
    connect({ port: ports[i % ports.length], host: '127.0.0.1', noDelay: true }),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const used = process.cpuUsage()
  const started = performance.now()
  const end = started + milliseconds
  let length
  const load = (socket) =>
    new Promise((resolve, reject) => {
      let received = 0
      let answers = 0
      socket.on('error', reject)
      socket.on('data', (piece) => {
        length ??= lengthOf(piece)
        for (let at = (length - (received % length)) % length; at + STATUS.length <= piece.length; at += length) {
          const status = piece.latin1Slice(at, at + STATUS.length)
          if (status !== STATUS) return reject(new Error(`answered ${status}`))
        }
        received += piece.length
        if (received < length * depth) return
        if (received > length * depth) return reject(new Error('responses of different lengths'))
        received = 0
        answers += depth
        if (performance.now() >= end) return resolve(answers)
        socket.write(batch, 'latin1')
      })
      socket.write(batch, 'latin1')
    })
  try {
    const answers = (await Promise.all(sockets.map(load))).reduce((a, b) => a + b, 0)
    const seconds = (performance.now() - started) / 1000
    const { user, system } = process.cpuUsage(used)
    return { answers, seconds, perSecond: answers / seconds, cpu: (user + system) / 1e6 }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

process.on('message', async (order) => {
  try {
    process.send({ result: await run(order) })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
process.send('started')
