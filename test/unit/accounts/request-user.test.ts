import { describe, expect, it } from 'vitest'
import { readAccount } from '../../../src/accounts/account.js'
import { toRequestUser } from '../../../src/accounts/request-user.js'
import { ACCOUNTS } from '../../support/fixtures.js'

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
