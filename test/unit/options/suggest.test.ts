import { describe, expect, it } from 'vitest'
import { methodHint, suggest, suggestion } from '../../../src/options/suggest.js'

const KNOWN = ['clock', 'tokenPath', 'keys']

describe('suggest finds the word that a mistyped word means', () => {
  it.each([
    ['part of a longer word', 'path', 'tokenPath'],
    ['a part of three letters', 'tok', 'tokenPath'],
    ['letters after it', 'keysOfApp', 'keys'],
    ['other case', 'CLOCK', 'clock'],
    ['other case in a part', 'PATH', 'tokenPath'],
    ['two letters instead of others', 'clxxk', 'clock'],
    ['two letters too few', 'clk', 'clock'],
    ['two letters too many', 'clxoxck', 'clock'],
    ['two letters before it', 'mykeys', 'keys'],
    ['letters that changed places', 'colck', 'clock'],
  ])('%s: %s', (_, word, meant) => {
    expect(suggest(word, KNOWN)).toBe(meant)
    expect(suggestion(word, KNOWN, { prefix: '--' })).toBe(`Did you mean "--${meant}"?`)
  })

  it.each([
    ['three other letters', 'cxxxk'],
    ['three letters too few', 'ck'],
    ['three letters too many', 'xcxlxock'],
    ['three letters before it', 'thekeys'],
    ['two letters of a longer word', 'en'],
    ['another word', 'colour'],
    ['no letters', ''],
  ])('and none for %s: %j', (_, word) => {
    expect(suggest(word, KNOWN)).toBeUndefined()
    expect(suggestion(word, KNOWN, { prefix: '--' })).toBe('Known: --clock, --tokenPath, --keys')
  })

  it('finds the closest word, and the first of two that are as close', () => {
    expect(suggest('clok', ['cork', 'clock'])).toBe('clock')
    expect(suggest('clok', ['clock', 'cork'])).toBe('clock')
    expect(suggest('clxk', ['clak', 'clok'])).toBe('clak')
  })

  it('takes no short word for another one of which every letter differs', () => {
    expect(suggest('b', ['a'])).toBeUndefined()
    expect(suggest('xy', ['ab'])).toBeUndefined()
    expect(suggest('xb', ['ab'])).toBe('ab')
  })

  it('says the sentence of a word of other packages', () => {
    const aliases = { sub: 'Pass it to issue()', path: 'tokenPath' }
    expect(suggestion('sub', KNOWN, { aliases })).toBe('Pass it to issue()')
    expect(suggestion('path', KNOWN, { aliases })).toBe('Did you mean "tokenPath"?')
  })

  it('finds nothing among no words', () => {
    expect(suggest('a', [])).toBeUndefined()
    expect(suggestion('a', ['b', 'c'])).toBe('Known: b, c')
  })
})

describe('methodHint names the method that a wrong object has', () => {
  class Repository {
    findOneBy() {}
  }
  it.each<[string, unknown, string]>([
    ['its own', { findByEmail() {}, findByPk() {} }, 'findByPk'],
    ['that of its class', new Repository(), 'findOneBy'],
    ['that of a class in its place', Object.assign(class {}, { findUnique() {} }), 'findUnique'],
  ])('%s', (_, value, other) => {
    expect(methodHint(value, 'findById', ['findByEmail'])).toBe(`Did you mean "findById" instead of "${other}"?`)
  })

  it.each([{}, { findByEmail() {}, refind() {} }, [], () => null, 'text', null, undefined])(
    'and nothing for %j',
    (value) => {
      expect(methodHint(value, 'findById', ['findByEmail'])).toBe('')
    },
  )
})
