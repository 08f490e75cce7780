// The attacker's process. It sends the same text on each connection, again after the last response to that text.
import { connect } from 'node:net'

process.once('message', ({ port, connections, texts, perText }) => {
  let answered = 0
  const sockets = Array.from({ length: connections }, (_, i) => {
    const socket = connect(port, '127.0.0.1')
    const text = texts[i % texts.length]
    let waiting = perText
    socket.setEncoding('latin1')
    socket.on('connect', () => socket.write(text))
    socket.on('data', (chunk) => {
      for (let at = chunk.indexOf('HTTP/1.1 '); at >= 0; at = chunk.indexOf('HTTP/1.1 ', at + 9)) {
        answered++
        waiting--
      }
      if (waiting > 0) return
      waiting += perText
      socket.write(text)
    })
    socket.on('error', () => {})
    return socket
  })
  process.once('message', () => {
    for (const socket of sockets) socket.destroy()
    process.send(answered)
  })
  process.send('started')
})
process.on('disconnect', () => process.exit())
