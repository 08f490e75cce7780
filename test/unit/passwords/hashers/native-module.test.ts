import { expect, it } from 'vitest'
import { nativeModule } from '../../../../src/passwords/hashers/native-module.js'
import { thrownBy } from '../../../support/failures.js'

it('says what to install when a native module is missing, and looks for it again', () => {
  const load = () => thrownBy(() => nativeModule('@node-rs/none'))
  const errors = [load(), load()]
  const message = expect.stringContaining('Install @node-rs/none with its optional dependencies')
  for (const error of errors) expect(error).toMatchObject({ message, cause: expect.any(Error) })
  expect(errors[0]).not.toBe(errors[1])
})
