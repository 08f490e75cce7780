import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { addressOf, sourceOf } from '../../../src/requests/source.js'

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
