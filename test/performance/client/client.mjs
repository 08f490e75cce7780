// The load generator, in its own process: kept connections that send requests and read the responses. Plain sockets, because a
// generator that needs as much processor time as the server would hide differences between servers.
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

/** Opens kept connections. A connection that the server closes is opened again. */
async function connectTo({ port, count, localAddress }) {
  let run
  let open = true

  function start() {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    const one = { socket, missing: 0, sentAt: 0 }
    let connected = false
    const read = responseReader((status) => run.found(one, status))
    socket.on('connect', () => {
      connected = true
    })
    socket.on('data', (piece) => {
      try {
        read(piece)
      } catch (error) {
        run.fail(error)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!open) return
      if (!connected) return run?.fail(new Error('the server accepts no connection'))
      const next = start()
      all[all.indexOf(one)] = next
      if (one.missing > 0) run.lost(next)
    })
    return one
  }

  const all = Array.from({ length: count }, start)
  await Promise.all(all.map(({ socket }) => once(socket, 'connect')))
  return {
    all,
    begin(of) {
      run = of
    },
    close() {
      open = false
      for (const { socket } of all) socket.destroy()
    },
  }
}

/** Creates an endless sequence of texts: `depth` of the list, one after the other. */
function inTurn(texts, depth) {
  let next = 0
  return () => {
    let text = ''
    for (let i = 0; i < depth; i++) text += texts[next++ % texts.length]
    return text
  }
}

/**
 * Sends on all connections until `isOver`: `depth` requests in one write, and the next ones after all their responses, or `pause` ms
 * later. Returns the number of responses by status, and the milliseconds from each write to its last response.
 */
function send(connections, { following, depth, pause }, isOver) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const used = process.cpuUsage()
    const found = { total: 0, closed: 0, statuses: {}, times: [] }
    let busy = connections.all.length

    function write(one) {
      one.missing = depth
      one.sentAt = performance.now()
      one.socket.write(following(), 'latin1')
    }
    function end() {
      busy--
      if (busy > 0) return
      const seconds = (performance.now() - started) / 1000
      const { user, system } = process.cpuUsage(used)
      resolve({ ...found, seconds, perSecond: found.total / seconds, cpu: (user + system) / 1e6 })
    }
    function continueWith(one) {
      if (isOver()) end()
      else if (pause > 0) setTimeout(() => (isOver() ? end() : write(one)), pause)
      else write(one)
    }
    connections.begin({
      found(one, status) {
        found.total++
        found.statuses[status] = (found.statuses[status] ?? 0) + 1
        one.missing--
        if (one.missing > 0) return
        found.times.push(performance.now() - one.sentAt)
        continueWith(one)
      },
      lost(next) {
        found.closed++
        continueWith(next)
      },
      fail: reject,
    })
    for (const one of connections.all) write(one)
  })
}

const groups = []
const loads = []
const running = new Map()
const runLoad = (load, isOver) => send(groups[loads[load].group], loads[load], isOver)

const orders = {
  connect: async (order) => groups.push(await connectTo(order)) - 1,
  prepare: ({ group, texts, depth, pause }) => loads.push({ group, following: inTurn(texts, depth), depth, pause }) - 1,
  run({ load, milliseconds }) {
    const end = performance.now() + milliseconds
    return runLoad(load, () => performance.now() >= end)
  },
  start({ load }) {
    const state = { isOver: false }
    running.set(load, { state, result: runLoad(load, () => state.isOver) })
  },
  stop({ load }) {
    const { state, result } = running.get(load)
    state.isOver = true
    return result
  },
  close: ({ group }) => groups[group].close(),
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
