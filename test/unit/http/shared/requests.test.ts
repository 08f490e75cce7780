import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { readAccount } from '../../../../src/accounts/account.js'
import { GUARDED_REQUESTS, TOKEN_CALLS } from '../../../../src/http/shared/limits.js'
import { toRequestUser } from '../../../../src/http/shared/request-user.js'
import { addressOf, sourceOf } from '../../../../src/http/shared/source.js'
import { ACCOUNTS } from '../../../support/fixtures.js'

describe('where a request comes from', () => {
  const socket = { remoteAddress: '2001:db8:0:1::5' }
  const request = (members: object) => members as IncomingMessage & { ip?: string }

  it.each([
    ['the address that Express reads', { ip: '192.0.2.1', socket }, '192.0.2.1', '192.0.2.1'],
    ['the address of the connection, without Express', { socket }, '2001:db8:0:1::5', '20010db800000001/64'],
    ['unknown, without a connection', { socket: null }, undefined, 'unknown'],
  ])('is %s', (_, members, address, network) => {
    expect(addressOf(request(members))).toBe(address)
    expect(sourceOf(request(members))).toEqual({ network, connection: members.socket ?? undefined })
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
