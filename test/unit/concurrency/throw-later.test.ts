import { expect, it } from 'vitest'
import { throwLater } from '../../../src/concurrency/throw-later.js'
import { until } from '../../support/concurrency.js'
import { fatalErrors } from '../../support/failures.js'

it('turns an error into an uncaught exception', async () => {
  const fatal = fatalErrors()
  throwLater(new Error('of the host'))
  await until(() => expect(fatal).toEqual(['uncaughtException: of the host']))
})
