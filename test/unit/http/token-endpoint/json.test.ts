import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { MOST_SIGNS, parseUniqueJson } from '../../../../src/http/token-endpoint/json.js'

describe('parseUniqueJson', () => {
  const signsOf = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[{}[\]:,]/g)?.length ?? 0

  it('parses whatever JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        fc.pre(signsOf(text) <= MOST_SIGNS)
        expect(parseUniqueJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('rejects an object with a repeated member, wherever it is and however it is written', () => {
    const escaped = (name: string) =>
      JSON.stringify([...name].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')).replaceAll(
        '\\\\',
        '\\',
      )
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.jsonValue(),
        fc.jsonValue(),
        fc.boolean(),
        fc.nat(3),
        (name, one, two, isEscaped, depth) => {
          const second = isEscaped && name.length === [...name].length ? escaped(name) : JSON.stringify(name)
          const object = `{"other":0,${JSON.stringify(name)}:${JSON.stringify(one)} , ${second} : ${JSON.stringify(two)}}`
          const text = name === 'other' ? object : `${'[{"x":'.repeat(depth)}${object}${'}]'.repeat(depth)}`
          expect(() => parseUniqueJson(text)).toThrow(new SyntaxError('repeated member'))
        },
      ),
    )
  })

  it.each([
    '{"a":{"b":1},"b":{"a":2}}',
    '[{"a":1},{"a":2}]',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":["a","a",{"a":"a"}],"b":"{\\"a\\""}',
    '{"":1,"a":""}',
  ])('takes members of one name in different objects: %s', (text) => {
    expect(parseUniqueJson(text)).toEqual(JSON.parse(text))
  })

  it.each(['', '{', '{"a":1,}', '{"a"', '"', '{"a":1}}', "{'a':1}"])('throws for what is not JSON: %j', (text) => {
    expect(() => parseUniqueJson(text)).toThrow(SyntaxError)
  })

  it('takes a text of a megabyte, of escapes or of letters', () => {
    for (const text of [
      `{"a":"${'\\"'.repeat(500_000)}"}`,
      `{"a":"${'x'.repeat(1_000_000)}"}`,
      ' '.repeat(1_000_000) + 1,
    ]) {
      expect(JSON.stringify(parseUniqueJson(text))).toBe(JSON.stringify(JSON.parse(text)))
    }
  })

  it.each(['[', ']', '{', '}', ',', ':', '[{}],', '{"a":', '{"a":1},'])(
    'counts the signs %s, at most 400 of them, and never parses a text with more',
    (signs) => {
      const parse = vi.spyOn(JSON, 'parse')
      onTestFinished(() => parse.mockRestore())
      expect(() => parseUniqueJson(signs.repeat(401))).toThrow(new SyntaxError('too many values'))
      expect(parse).not.toHaveBeenCalled()
      expect(() => parseUniqueJson(signs.repeat(400 / signsOf(signs) - 1))).not.toThrow('too many values')
    },
  )
})
