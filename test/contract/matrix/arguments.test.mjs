import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.mjs'

describe('what the matrix is asked for', () => {
  it('is all that the package promises, unless told', () => {
    const all = { nodes: ['20.19.0', '22', '24', '26'], runtimes: ['bun', 'deno'] }
    expect(readArguments([])).toEqual({ consumers: false, ...all })
    expect(readArguments(['--consumers'])).toEqual({ consumers: true, ...all })
  })

  it.each([
    [['24', '22.12'], { nodes: ['24', '22.12'], runtimes: [] }],
    [['bun'], { nodes: [], runtimes: ['bun'] }],
    [['deno', '24'], { nodes: ['24'], runtimes: ['deno'] }],
  ])('is the Nodes and the runtimes that are named: %j', (words, chosen) => {
    expect(readArguments(words)).toEqual({ consumers: false, ...chosen })
  })

  it('is the packed consumers alone', () => {
    expect(readArguments(['24', '--consumers'])).toEqual({ consumers: true, nodes: ['24'], runtimes: [] })
  })

  it.each([['latest'], ['22.x'], ['../22'], ['22 && x'], ['1.2.3.4'], ['bun@1'], ['Deno'], ['']])(
    'is no such version: %j',
    (version) => {
      const message = /^no version of Node: .*\. Write 22, 22\.12 or 22\.12\.0, or bun or deno$/
      expect(() => readArguments([version])).toThrow(message)
    },
  )

  it('is nothing unknown', () => {
    expect(() => readArguments(['--quick'])).toThrow(/--quick/)
  })
})
