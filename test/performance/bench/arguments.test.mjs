import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.mjs'

const PARTS = ['guard', 'http', 'attacks']

describe('the arguments of the bench', () => {
  it.each([
    [[], PARTS],
    [['http'], ['http']],
    [
      ['attacks', 'guard'],
      ['guard', 'attacks'],
    ],
  ])('%j run %j', (words, parts) => {
    expect(readArguments(words, PARTS).parts).toEqual(parts)
  })

  it('takes the number of rounds', () => {
    expect(readArguments([], PARTS).rounds).toBeGreaterThanOrEqual(7)
    expect(readArguments(['--rounds', '21'], PARTS).rounds).toBe(21)
    expect(readArguments(['--quick'], PARTS)).toMatchObject({ quick: true, rounds: 3 })
  })

  it('refuses what it does not know, and tells what there is', () => {
    expect(() => readArguments(['gaurd'], PARTS)).toThrow('no such part: gaurd. There are guard, http, attacks')
    expect(() => readArguments(['--rounds', '0'], PARTS)).toThrow('--rounds')
    expect(() => readArguments(['--rounds', 'many'], PARTS)).toThrow('--rounds')
    expect(() => readArguments(['--fast'], PARTS)).toThrow('--fast')
  })
})
