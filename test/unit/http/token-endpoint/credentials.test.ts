import { expect, it } from 'vitest'
import { credentialsIn } from '../../../../src/http/token-endpoint/credentials.js'
import { thrownBy } from '../../../support/failures.js'

it('credentials may be as long together as a body may be, and no longer', () => {
  const credentials = { email: 'a'.repeat(4), password: 'b'.repeat(6) }
  expect(credentialsIn(credentials, 10)).toEqual(credentials)
  expect(thrownBy(() => credentialsIn(credentials, 9))).toMatchObject({ code: 'body_too_large' })
})
