import { expect, test } from 'vitest'
import { qrPath } from '../../../example-app/page/qr-path.js'

test('draws one square for each dark square', () => {
  expect(qrPath([[], [false, true], [true, false]])).toBe('M1 1h1v1h-1zM0 2h1v1h-1z')
})
