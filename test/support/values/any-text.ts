import fc from 'fast-check'

const codePoint = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))

/** A character of Unicode, and the way back, so that fast-check also puts names such as `__proto__` into texts. */
const unit = codePoint.map(
  (point) => String.fromCodePoint(point),
  (character) => {
    if (typeof character !== 'string' || [...character].length !== 1) throw new Error('not a character')
    return character.codePointAt(0) as number
  },
)

/** Any text. The unit `binary` of fast-check is the same, but its table takes a second for each file that uses it. */
export const anyText = (lengths: { minLength?: number; maxLength?: number } = {}) => fc.string({ unit, ...lengths })
