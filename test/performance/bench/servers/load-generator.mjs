// The load generator: kept connections with one request at a time on each, as in browsers and HTTP libraries. It uses plain sockets,
// so that the server is always the slower side.
import { once } from 'node:events'
import { connect } from 'node:net'

const STATUS = 'HTTP/1.1 200 '
const HEAD_END = '\r\n\r\n'

/** Creates an endless sequence of the items in turn. */
const inTurn = (items) => {
  let next = 0
  return () => items[next++ % items.length]
}

const lists = new Map()
const socketsOf = new Map()

/** Reads the length of a response from its first piece. All responses of a run have the same length. */
function lengthOf(piece) {
  const text = piece.toString('latin1')
  const bodyLength = /^content-length: (\d+)\r$/im.exec(text)?.[1]
  if (!text.includes(HEAD_END) || bodyLength === undefined) throw new Error('the answer has no length')
  return text.indexOf(HEAD_END) + HEAD_END.length + Number(bodyLength)
}

/** Sends requests for `milliseconds`: `before`, the next item of the list, `after`. Returns the responses per second, and in total. */
function run({ port, before, list, after, milliseconds }) {
  const sockets = socketsOf.get(port)
  const following = lists.get(list)
  return new Promise((resolve, reject) => {
    const began = performance.now()
    let total = 0
    let length
    let busy = sockets.length

    for (const socket of sockets) {
      let received = 0
      const send = () => socket.write(`${before}${following()}${after}`, 'latin1')
      const take = (piece) => {
        if (received === 0 && piece.latin1Slice(0, STATUS.length) !== STATUS) {
          return reject(new Error(`answered ${piece.latin1Slice(0, STATUS.length)}`))
        }
        length ??= lengthOf(piece)
        received += piece.length
        if (received < length) return
        if (received > length) return reject(new Error('answers of different lengths'))
        received = 0
        total++
        const elapsed = performance.now() - began
        if (elapsed < milliseconds) return send()
        socket.off('data', take)
        busy--
        if (busy === 0) resolve({ perSecond: (total / elapsed) * 1000, total })
      }
      socket.on('data', take)
      send()
    }
  })
}

const orders = {
  connect: async ({ port, connections }) => {
    const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    socketsOf.set(port, sockets)
  },
  remember: ({ list, items }) => {
    lists.set(list, inTurn(items))
  },
  run,
}

process.on('message', async ({ order, ...details }) => {
  try {
    process.send({ result: await orders[order](details) })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
process.send('started')
