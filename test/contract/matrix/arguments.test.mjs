import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.mjs'

describe('what the matrix is asked for', () => {
  it('is all that the package promises, unless told', () => {
    expect(readArguments([])).toEqual({ consumers: false, nodes: ['20.19.0', '22', '24', '26'] })
  })

  it('is the Nodes that are named, and the packed consumers alone', () => {
    expect(readArguments(['24', '--consumers', '22.12'])).toEqual({ consumers: true, nodes: ['24', '22.12'] })
  })

  it.each([['latest'], ['22.x'], ['../22'], ['22 && x'], ['1.2.3.4'], ['']])('is no such version: %j', (version) => {
    expect(() => readArguments([version])).toThrow(/^no version of Node: .*\. Write 22, 22\.12 or 22\.12\.0$/)
  })

  it('is nothing unknown', () => {
    expect(() => readArguments(['--quick'])).toThrow(/--quick/)
  })
})
