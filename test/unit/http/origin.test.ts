import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { addressOf, disconnectSignal, followerOf, originOfRequest } from '../../../src/http/origin.js'
import { polluted } from '../../support/pollution.js'

describe('where a request comes from', () => {
  const socket = { remoteAddress: '2001:db8:0:1::5' }
  const request = (members: object) => members as IncomingMessage & { ip?: string }

  it.each([
    ['the address that Express reads', { ip: '192.0.2.1', socket }, '192.0.2.1', '192.0.2.1'],
    ['the address of the connection, without Express', { socket }, '2001:db8:0:1::5', '20010db800000001/64'],
    ['unknown, without a connection', { socket: null }, undefined, 'unknown'],
  ])('is %s', (_, members, address, network) => {
    expect(addressOf(request(members))).toBe(address)
    expect(originOfRequest(request(members)).network).toBe(network)
  })

  it('is the address of the connection, without Express and with a polluted prototype', async () => {
    expect(await polluted({ ip: '192.0.2.66' }, () => addressOf(request({ socket })))).toBe('2001:db8:0:1::5')
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
