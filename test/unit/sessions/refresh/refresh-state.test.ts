import { describe, expect, it } from 'vitest'
import {
  firstState,
  nextState,
  type RefreshState,
  readState,
  writeState,
} from '../../../../src/sessions/refresh/refresh-state.js'

const GRACE = 10_000
const NOW = 1_000_000
const FIRST = firstState({ remember: true, passwordTag: 'tag' })
const state = (change: Partial<RefreshState>): RefreshState => ({ ...FIRST, generation: 7, ...change })
const ago = (...seconds: number[]) => seconds.map((one) => NOW - one * 1000)
const present = (from: RefreshState, generation: number, presentedAt = NOW) =>
  nextState(from, generation, { now: NOW, presentedAt, grace: GRACE })

describe('a session moves on', () => {
  const moves: [string, RefreshState, number, Partial<RefreshState> | undefined][] = [
    ['from its first refresh token', FIRST, 0, { generation: 1, replacedAt: [NOW] }],
    ['from its current one', state({ replacedAt: ago(60) }), 7, { generation: 8, replacedAt: [NOW, ...ago(60)] }],
    ['and forgets that one was late', state({ late: true }), 7, { generation: 8, replacedAt: [NOW], late: false }],
    [
      'and keeps eight times',
      state({ replacedAt: ago(11, 12, 13, 14, 15, 16, 17, 18) }),
      7,
      { generation: 8, replacedAt: [NOW, ...ago(11, 12, 13, 14, 15, 16, 17)] },
    ],
    [
      'from the one before when it comes after the grace',
      state({ replacedAt: ago(11, 20) }),
      6,
      { generation: 8, replacedAt: [NOW, NOW, ...ago(20)], late: true },
    ],
    [
      'not from the one that it forgave last, but notes its time',
      state({ replacedAt: ago(60, 60, 90), late: true }),
      5,
      { replacedAt: [NOW - 60_000, NOW, NOW - 90_000], late: true },
    ],
    [
      'not from one that it forgave when the successor was used since',
      state({ replacedAt: ago(60, 60) }),
      5,
      undefined,
    ],
    ['not from the one before when the last one was late', state({ replacedAt: ago(11), late: true }), 6, undefined],
    ['not from an older one', state({ replacedAt: ago(11, 12) }), 5, undefined],
    ['not from one whose time is forgotten', state({ generation: 20, replacedAt: ago(1) }), 3, undefined],
    [
      'past a later one than its own, when the store has lost writes',
      state({ replacedAt: ago(60), late: true }),
      9,
      { generation: 10, replacedAt: [NOW, NOW, NOW, ...ago(60)], late: false },
    ],
    [
      'from the one before when the clock that replaced it is more than a minute ahead',
      state({ replacedAt: ago(-60.001) }),
      6,
      { generation: 8, replacedAt: [NOW, NOW], late: true },
    ],
    ['past one that is far later', state({}), 1e9, { generation: 1e9 + 1, replacedAt: Array(8).fill(NOW) }],
  ]
  it.each(moves)('%s', (_, from, generation, change) => {
    expect(present(from, generation)).toEqual(change && { ...from, late: false, ...change })
  })
})

describe('without grace', () => {
  const replaced = state({ replacedAt: ago(0, 0, 0, 0, 0, 0, 0, 0) })
  it.each([6, 5])('a replaced refresh token is reuse, in the same millisecond too: %i of 7', (generation) => {
    expect(nextState(replaced, generation, { now: NOW, presentedAt: NOW, grace: 0 })).toBeUndefined()
  })
  it('the current one moves on', () => {
    const times = { now: NOW + 1, presentedAt: NOW + 1, grace: 0 }
    expect(nextState(replaced, 7, times)).toMatchObject({ generation: 8 })
  })
})

describe('a session stays as it is', () => {
  const stays: [string, RefreshState, number, number?][] = [
    ['for the one before, exactly at the end of the grace', state({ replacedAt: ago(10) }), 6],
    ['for an older one within the grace', state({ replacedAt: ago(1, 9.9) }), 5],
    [
      'for one that came within the grace, however slow the server was',
      state({ replacedAt: ago(30) }),
      6,
      NOW - 25_000,
    ],
    ['when the clock that replaced it is a minute ahead', state({ replacedAt: ago(-60) }), 6],
    ['for the current one after eight in the grace', state({ replacedAt: ago(1, 2, 3, 4, 5, 6, 7, 8) }), 7],
    [
      'for the one before within the grace, although the last one was late',
      state({ replacedAt: ago(2, 2), late: true }),
      6,
    ],
  ]
  it.each(stays)('%s', (_, from, generation, presentedAt) => {
    expect(present(from, generation, presentedAt)).toBe(from)
  })
})

describe('the text of a state', () => {
  const states: RefreshState[] = [
    FIRST,
    state({ remember: false, late: true, passwordTag: '' }),
    state({
      generation: 999_999_999_999_999,
      replacedAt: Array(8).fill(8_640_000_000_000_000),
      passwordTag: '0123456789_-abcd',
    }),
    state({ passwordTag: 'open', announced: ['0123456789_-abcd'], announcedAt: 5 }),
    state({
      generation: 999_999_999_999_999,
      replacedAt: Array(8).fill(9_999_999_999_999),
      passwordTag: '0123456789_-abcd',
      announced: ['0123456789_-abce', '0123456789_-abcf', '0123456789_-abcg'],
      announcedAt: 9_999_999_999_999,
    }),
  ]
  it.each(states)('returns the same state, in 255 characters: %j', (one) => {
    const text = writeState(one)
    expect(readState(text)).toEqual(one)
    expect(text.length).toBeLessThanOrEqual(255)
  })

  const others = [
    '',
    '1',
    '2.0.01.tag',
    '1.-1.01.tag',
    '1.0.2.tag',
    '1.0.01.tag.',
    '1.0.01.tag.1e3',
    '1.0.01.t g',
    '1.0.01.tag\n',
    '1.0.01.tag~5',
    '1.0.01.tag~5~short',
    `1.0.01.tag~5${'~0123456789_-abcd'.repeat(4)}`,
  ]
  const tooMany = `1.0.01.tag${'.1'.repeat(9)}`
  it.each([...others, ` ${writeState(FIRST)}`, tooMany, '1.0.01.12345678901234567', null, 5, {}, [writeState(FIRST)]])(
    'is not %j: the store has changed it',
    (text) => {
      expect(() => readState(text)).toThrow('"refresh" must be the string that the store received, unchanged')
    },
  )
})
