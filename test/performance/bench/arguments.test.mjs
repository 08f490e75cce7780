import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.mjs'

const PARTS = ['guard', 'http', 'memory']

describe('the arguments of the bench', () => {
  it.each([
    [[], PARTS],
    [['http'], ['http']],
    [
      ['memory', 'guard'],
      ['guard', 'memory'],
    ],
  ])('%j run %j', (words, parts) => {
    expect(readArguments(words, PARTS).parts).toEqual(parts)
  })

  it('takes the number of rounds', () => {
    expect(readArguments([], PARTS).rounds).toBeGreaterThanOrEqual(7)
    expect(readArguments(['--rounds', '21'], PARTS).rounds).toBe(21)
    expect(readArguments(['--quick'], PARTS)).toMatchObject({ quick: true, rounds: 3 })
  })

  it('takes the Node lines, and all of them by default', () => {
    expect(readArguments([], PARTS).lines).toEqual(['24', '26', '22', '20'])
    expect(readArguments(['--node', '20,24'], PARTS).lines).toEqual(['20', '24'])
  })

  it('refuses what it does not know, and tells what there is', () => {
    expect(() => readArguments(['gaurd'], PARTS)).toThrow('no such part: gaurd. There are guard, http, memory')
    expect(() => readArguments(['--rounds', '0'], PARTS)).toThrow('--rounds')
    expect(() => readArguments(['--rounds', 'many'], PARTS)).toThrow('--rounds')
    expect(() => readArguments(['--node', '18'], PARTS)).toThrow('--node must be some of 24,26,22,20')
    expect(() => readArguments(['--fast'], PARTS)).toThrow('--fast')
  })
})
