// The load generator. Plain sockets, because a generator that needs as much processor time as the server would hide differences
// between servers.
import { once } from 'node:events'
import { connect } from 'node:net'

const HEAD_END = '\r\n\r\n'
const BODY_LENGTH = /^content-length: *(\d+)/im

/** Reads the responses of one connection. Calls `found` with the status of each complete response. */
function responseReader(found) {
  let rest
  return (piece) => {
    const bytes = rest ? Buffer.concat([rest, piece]) : piece
    let at = 0
    while (at < bytes.length) {
      const body = bytes.indexOf(HEAD_END, at, 'latin1') + HEAD_END.length
      if (body < HEAD_END.length) break
      const head = bytes.latin1Slice(at, body)
      const length = BODY_LENGTH.exec(head)?.[1]
      if (length === undefined) throw new Error(`a response without a length: ${head.split('\r\n', 1)}`)
      if (body + Number(length) > bytes.length) break
      at = body + Number(length)
      found(head.slice(9, 12))
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined
  }
}

/**
 * Opens the kept connections of a load. Each sends the texts in turn, the next one after the response.
 * @returns a function that sends for some milliseconds. It returns the number of responses, also by status and by second
 */
async function openLoad({ port, texts, connections }) {
  let run
  let next = 0
  const open = () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const read = responseReader((status) => run.found(socket, status))
    socket.on('data', (piece) => {
      try {
        read(piece)
      } catch (error) {
        run.fail(error)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => run?.fail(new Error('the server closed a connection')))
    return socket
  }
  const all = Array.from({ length: connections }, open)
  await Promise.all(all.map((socket) => once(socket, 'connect')))

  return (milliseconds) =>
    new Promise((resolve, fail) => {
      const started = performance.now()
      const result = { total: 0, statuses: {} }
      let busy = all.length
      const write = (socket) => socket.write(texts[next++ % texts.length], 'latin1')
      run = {
        fail,
        found(socket, status) {
          result.total++
          result.statuses[status] = (result.statuses[status] ?? 0) + 1
          if (performance.now() < started + milliseconds) return write(socket)
          if (--busy > 0) return
          resolve({ ...result, perSecond: (1000 * result.total) / (performance.now() - started) })
        },
      }
      all.forEach(write)
    })
}

const loads = []
const orders = {
  open: async (options) => loads.push(await openLoad(options)) - 1,
  run: ({ load, milliseconds }) => loads[load](milliseconds),
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
