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
 * Opens the kept connections of a load, which sends its texts in turn: `depth` requests in one write, and the next ones after all their
 * responses, or `pause` ms later. A connection that the server closes is opened again.
 * @returns a function that sends until `isOver`. It returns the number of responses by status, and the milliseconds from each write to
 *   its last response
 */
async function openLoad({ port, texts, connections, depth, pause, localAddress }) {
  let run
  let next = 0
  function following() {
    let text = ''
    for (let i = 0; i < depth; i++) text += texts[next++ % texts.length]
    return text
  }

  function open() {
    const one = { socket: connect({ port, host: '127.0.0.1', localAddress, noDelay: true }), missing: 0, sentAt: 0 }
    let connected = false
    one.socket.on('connect', () => {
      connected = true
    })
    const read = responseReader((status) => run.found(one, status))
    one.socket.on('data', (piece) => {
      try {
        read(piece)
      } catch (error) {
        run.fail(error)
      }
    })
    one.socket.on('error', () => {})
    one.socket.on('close', () => {
      if (!connected || one.sentAt === 0) return run?.fail(new Error('the server accepts no connection'))
      const again = open()
      all[all.indexOf(one)] = again
      if (one.missing > 0) run.lost(again)
    })
    return one
  }
  const all = Array.from({ length: connections }, open)
  await Promise.all(all.map(({ socket }) => once(socket, 'connect')))

  return (isOver) =>
    new Promise((resolve, fail) => {
      const started = performance.now()
      const result = { total: 0, closed: 0, statuses: {}, times: [] }
      let busy = all.length
      function write(one) {
        one.missing = depth
        one.sentAt = performance.now()
        one.socket.write(following(), 'latin1')
      }
      function end() {
        if (--busy > 0) return
        const seconds = (performance.now() - started) / 1000
        resolve({ ...result, seconds, perSecond: result.total / seconds })
      }
      function goOn(one) {
        if (isOver()) end()
        else if (pause > 0) setTimeout(() => (isOver() ? end() : write(one)), pause)
        else write(one)
      }
      run = {
        fail,
        found(one, status) {
          result.total++
          result.statuses[status] = (result.statuses[status] ?? 0) + 1
          if (--one.missing > 0) return
          result.times.push(performance.now() - one.sentAt)
          goOn(one)
        },
        lost(again) {
          result.closed++
          goOn(again)
        },
      }
      for (const one of all) write(one)
    })
}

const loads = []
const running = new Map()

const orders = {
  open: async (options) => loads.push(await openLoad(options)) - 1,
  run({ load, milliseconds }) {
    const end = performance.now() + milliseconds
    return loads[load](() => performance.now() >= end)
  },
  begin({ load }) {
    const state = { isOver: false }
    const result = loads[load](() => state.isOver)
    // `stop` reports a failure.
    result.catch(() => {})
    running.set(load, { state, result })
  },
  stop({ load }) {
    const { state, result } = running.get(load)
    state.isOver = true
    return result
  },
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
