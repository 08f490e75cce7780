import { expect, it } from 'vitest'
import { table } from './table.mjs'

it('lines up its columns', () => {
  expect(
    table(
      ['variant', 'µs'],
      [
        ['a', 0.7],
        ['a longer one', '380.00'],
      ],
    ),
  ).toBe(['variant           µs', '────────────  ──────', 'a                0.7', 'a longer one  380.00'].join('\n'))
})
