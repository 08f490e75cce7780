import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readAccount, toRequestUser } from '../../../src/accounts/account.js'
import { headerOf, isCut, isRepeated } from '../../../src/requests/header-lines.js'
import { addressOf, disconnectSignal, followerOf, sourceOf } from '../../../src/requests/origin.js'
import { GUARDED_REQUESTS, TOKEN_CALLS } from '../../../src/waiting/request-limits.js'
import { ACCOUNTS } from '../../support/fixtures.js'
import { polluted } from '../../support/pollution.js'

describe('where a request comes from', () => {
  const socket = { remoteAddress: '2001:db8:0:1::5' }
  const request = (members: object) => members as IncomingMessage & { ip?: string }

  it.each([
    ['the address that Express reads', { ip: '192.0.2.1', socket }, '192.0.2.1', '192.0.2.1'],
    [
      'the connection, also in an app with its own stream',
      { httpVersionMajor: 1, stream: { session: {} }, socket },
      '2001:db8:0:1::5',
      '20010db800000001/64',
    ],
    ['the address of the connection, without Express', { socket }, '2001:db8:0:1::5', '20010db800000001/64'],
    ['unknown, without a connection', { socket: null }, undefined, 'unknown'],
  ])('is %s', (_, members, address, network) => {
    expect(addressOf(request(members))).toBe(address)
    expect(sourceOf(request(members))).toEqual({ network, connection: members.socket ?? undefined })
  })

  it('is one connection for all streams of HTTP/2 that have ended, and a session for each other stream', () => {
    const connectionOf = (session?: object) =>
      sourceOf(request({ httpVersionMajor: 2, stream: { session }, socket: {} })).connection
    expect(connectionOf()).toBe(connectionOf())
    expect(connectionOf(socket)).toBe(socket)
  })
})

it('limits the requests that wait: in total, of one network, of one connection', () => {
  expect(GUARDED_REQUESTS).toEqual({ total: 4096, perNetwork: 2048, perConnection: 128 })
  expect(TOKEN_CALLS).toEqual({ total: 2048, perNetwork: 1024, perConnection: 16 })
})

describe('the account on req.user', () => {
  const userOf = (original: object) => {
    const found = readAccount(original as typeof ACCOUNTS.alice)
    return found && toRequestUser(found)
  }

  it('has all members of the store’s object but the hash', () => {
    const { passwordHash, ...rest } = { ...ACCOUNTS.alice, theme: 'dark' }
    expect(userOf({ passwordHash, ...rest })).toEqual(rest)
  })

  it('has the members that a class provides, and not the hash', () => {
    class Row {
      get id() {
        return 'acc-1'
      }
      get passwordHash() {
        return 'plain:x'
      }
      scopes = ['a']
    }
    expect(userOf(new Row())).toEqual({ id: 'acc-1', scopes: ['a'] })
  })
})

it.each<[boolean, string, readonly string[] | undefined]>([
  [false, 'no header', []],
  [false, 'one line', ['Authorization', 'Bearer a']],
  [true, 'two lines', ['Authorization', 'Bearer a', 'Host', 'x', 'Authorization', 'Bearer b']],
  [true, 'two lines in different letters', ['authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer a']],
  [false, 'a value that is the name', ['Authorization', 'authorization', 'X-Name', 'authorization']],
  [false, 'another header of the same length', ['Authorization', 'Bearer a', 'If-None-Match', '"a"']],
  [false, 'a mock without raw headers', undefined],
])('%s: %s', (expected, _, rawHeaders) => {
  expect(isRepeated({ rawHeaders } as IncomingMessage, 'authorization')).toBe(expected)
})

const lines = (count: number) => Array.from({ length: count }, (_, i) => [`x-${i}`, 'a']).flat()

it.each<[boolean, number, unknown]>([
  [false, 999, { maxHeadersCount: null }],
  [true, 1000, { maxHeadersCount: null }],
  [true, 1023, { maxHeadersCount: null }],
  [false, 999, undefined],
  [true, 1000, undefined],
  [false, 19, { maxHeadersCount: 20 }],
  [true, 20, { maxHeadersCount: 20 }],
  [false, 3000, { maxHeadersCount: 0 }],
  [false, 1000, { maxHeadersCount: 2000 }],
])('may have lost header lines: %s, with %i lines on a server with %j', async (expected, count, server) => {
  const req = { rawHeaders: lines(count), socket: { server } } as unknown as IncomingMessage
  expect(await polluted({ maxHeadersCount: 0 }, () => isCut(req))).toBe(expected)
  expect(isCut({ ...req, socket: undefined } as never)).toBe(count >= 1000)
})

it('reads a header from its line while every object inherits its name', async () => {
  const request = (headers: object, rawHeaders: string[]) => headerOf({ headers, rawHeaders } as never, 'authorization')
  const line = ['Host', 'authorization', 'AUTHORIZATION', 'Bearer a']
  expect(request({ authorization: 'Bearer own' }, line)).toBe('Bearer own')
  // A middleware has removed it.
  expect(request({}, line)).toBeUndefined()
  await polluted({ authorization: 'x' }, () => {
    expect(request({}, line)).toBe('Bearer a')
    expect(request({ authorization: 'Bearer own' }, line)).toBe('Bearer own')
    expect(request({}, ['Authorization', 'Bearer a'])).toBe('Bearer a')
    expect(request({}, ['Host', 'authorization'])).toBeUndefined()
  })
})

describe('the signal of a connection', () => {
  const connection = (destroyed = false) => Object.assign(new EventEmitter(), { destroyed }) as unknown as Socket

  /** Attaches twenty listeners. Node 20 warns of the eleventh, unless the signal allows any number. */
  function expectRoomForListeners(signal: AbortSignal): void {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    for (let i = 0; i < 20; i++) signal.addEventListener('abort', () => {})
    expect(warn).not.toHaveBeenCalled()
  }

  it('aborts when the connection closes, and not before', () => {
    const socket = connection()
    const signal = disconnectSignal(socket)
    socket.emit('end')
    expect(signal.aborted).toBe(false)
    socket.emit('close')
    expect(signal.aborted).toBe(true)
  })

  it('is one signal for all requests of a connection, which may be any number', () => {
    const socket = connection()
    const signal = disconnectSignal(socket)
    expect(disconnectSignal(socket)).toBe(signal)
    expect(socket.listenerCount('close')).toBe(1)
    expect(disconnectSignal(connection())).not.toBe(signal)
    expectRoomForListeners(signal)
  })

  it('has aborted when the connection has closed already', () => {
    expect(disconnectSignal(connection(true)).aborted).toBe(true)
  })

  it('of the host is followed by one signal for all its logins, which may be any number', () => {
    const host = new AbortController()
    const signal = followerOf(host.signal)
    expect(followerOf(host.signal)).toBe(signal)
    expectRoomForListeners(signal)
    expect(signal.aborted).toBe(false)
    host.abort()
    expect([signal.aborted, followerOf(AbortSignal.abort()).aborted]).toEqual([true, true])
  })

  it.each([
    ['a request without a connection', undefined],
    ['a mock without events', {} as Socket],
  ])('never aborts for %s, of which there may be any number', (_, socket) => {
    const signal = disconnectSignal(socket)
    expect(signal.aborted).toBe(false)
    expectRoomForListeners(signal)
  })
})
