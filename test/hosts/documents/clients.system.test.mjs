import { once } from 'node:events'
import { closeWhenEnded } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startApi } from '../../contract/documents/examples/start-api.js'
import { until } from '../../support/concurrency.ts'
import { startExamples } from '../../support/documents/examples.js'
import { NO_HOSTS } from '../kit.js'

const { run } = startExamples(import.meta.url)

const body = { total: 5 }

describe.skipIf(NO_HOSTS)('the page on adapters', () => {
  it.each([
    ['client-axios', (client) => client.post('/statements', body), ({ data }) => data],
    ['client-openapi-fetch', (client) => client.POST('/statements', { body }), ({ data }) => data],
    ['client-got', (client) => client.post('statements', { json: body }).json(), (data) => data],
  ])('%s: signs in, and repeats a request after the token was revoked', async (name, post, dataOf) => {
    const { logins, revokeAll } = await startApi()
    const { client } = await run(name)
    expect(dataOf(await post(client))).toEqual(body)
    await post(client)
    expect(logins()).toBe(1)
    revokeAll()
    expect(await Promise.all([post(client), post(client)].map(async (response) => dataOf(await response)))).toEqual([
      body,
      body,
    ])
    expect(logins()).toBe(2)
  })

  it('client-axios: has the code, the status and the cause of an error, and no token', async () => {
    const { url } = await startApi()
    const { api, client } = await run('client-axios', url)
    const notFound = await client.get('/nothing').catch((error) => error)
    expect(notFound).toMatchObject({ status: 404 })
    expect(String(JSON.stringify(notFound.toJSON()))).not.toContain(await api.token())
    api.close()
    const error = await client.get('/statements').catch((failure) => failure)
    expect(error).toMatchObject({ code: 'closed', cause: { name: 'AbortError' } })
  })

  it('client-got: sends no token to another origin', async () => {
    const { url } = await startApi()
    const { client } = await run('client-got', url)
    const other = `${url.replace('127.0.0.1', 'localhost')}/statements`
    await expect(client(other, { prefixUrl: '' })).rejects.toThrow('is not in "origins"')
    await expect(client('moved')).rejects.toThrow('is not in "origins"')
  })

  it('client-got: signs in for nobody when the user has signed out', async () => {
    const { url, server, logins, revokeAll } = await startApi()
    const { api, client } = await run('client-got', url)
    await client('statements')
    revokeAll()
    server.once('request', () => api.signOut())
    await expect(client('statements')).rejects.toMatchObject({ code: 'signed_out' })
    expect(logins()).toBe(1)
  })

  it('client-got: returns the second 401', async () => {
    const { url, logins, refuseAll } = await startApi()
    refuseAll()
    const { client } = await run('client-got', url)
    await expect(client('statements')).rejects.toMatchObject({ response: { statusCode: 401 } })
    expect(logins()).toBe(2)
  })

  /** Starts the block with a Socket.IO server that closes a socket when its token was revoked. */
  async function openSocket() {
    const { Server } = await import('socket.io')
    const api = await startApi()
    const io = new Server(api.server)
    onTestFinished(() => void io.close())
    const handshakes = vi.fn()
    io.use(async (socket, next) => {
      const { token } = socket.handshake.auth
      if (token) socket.request.headers.authorization = `Bearer ${token}`
      handshakes(token)
      await api.guard.authenticate(socket.request).then(
        () => next(),
        (error) => next(new Error(error.code)),
      )
    })
    io.on('connection', (socket) => {
      const cancel = closeWhenEnded(socket.request, api.guard, () => socket.disconnect(true))
      socket.on('disconnect', cancel)
    })
    const connected = once(io, 'connection')
    const block = await run('client-socket-io', api.url)
    onTestFinished(() => void block.socket.disconnect())
    const [first] = await connected
    return { ...api, ...block, io, first, handshakes }
  }

  it('client-socket-io: connects, and connects again with a new token after the server has closed', async () => {
    const { io, first, socket, logins, revokeAll, handshakes } = await openSocket()
    revokeAll()
    first.disconnect(true)
    await once(io, 'connection')
    expect(logins()).toBe(2)
    expect(new Set(handshakes.mock.calls.flat()).size).toBe(2)
    expect(handshakes).toHaveBeenCalledTimes(3)
    await until(() => expect(socket.connected).toBe(true))
  })

  it('client-socket-io: tries a refused token once more, and stays away without a token', async () => {
    const { api, first, socket, refuseAll, handshakes } = await openSocket()
    refuseAll()
    const failures = []
    const stopped = new Promise((resolve) => {
      socket.on('connect_error', ({ message }) => failures.push(message) === 2 && resolve())
    })
    first.disconnect(true)
    await stopped
    expect(failures).toEqual(['invalid_token', 'invalid_token'])
    expect(handshakes).toHaveBeenCalledTimes(3)
    expect(socket.active).toBe(false)
    api.close()
    const refused = once(socket, 'connect_error')
    socket.connect()
    expect(await refused).toMatchObject([{ message: 'missing_token' }])
  })
})
