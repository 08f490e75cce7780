import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.mjs'

const PARTS = ['load', 'rotation', 'million']

describe('the arguments of npm run fleet', () => {
  it.each([
    [[], { parts: PARTS, scale: 1, rounds: 15 }],
    [['million', 'load'], { parts: ['load', 'million'] }],
    [['--scale', '0.01', '--rounds', '3'], { parts: PARTS, scale: 0.01, rounds: 3, node: undefined, write: false }],
    [['--node', '24', '--write'], { node: '24', write: true }],
  ])('%j', (words, expected) => {
    expect(readArguments(words, PARTS)).toMatchObject(expected)
  })

  it.each([
    [['laod'], 'no such part: laod. There are load, rotation, million'],
    [['--scale', '0'], '--scale'],
    [['--scale', 'full'], '--scale'],
    [['--rounds', '2'], '--rounds'],
    [['--node', 'lts'], '--node'],
    [['--quick'], '--quick'],
  ])('%j is refused', (words, says) => {
    expect(() => readArguments(words, PARTS)).toThrow(says)
  })
})
