// Inputs are byte strings: each character is one byte. They survive JSON, and every mutation applies to them.
import fc from 'fast-check'

export const toBytes = (text) => Buffer.from(text, 'latin1')
/** Returns the byte string of a text in UTF-8. */
export const utf8 = (text) => Buffer.from(text).toString('latin1')

/** Returns the text of UTF-8 bytes, or undefined. Keeps a byte order mark. */
export function textOf(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns the value of a JSON text, or undefined. */
export function jsonOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns an own member. */
export const own = (object, name) => (isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined)

export const pick = (...values) => fc.constantFrom(...values)
/** Generates by one of the arbitraries, each with its weight. */
export const weighted = (...pairs) => fc.oneof(...pairs.map(([weight, arbitrary]) => ({ weight, arbitrary })))
export const byteString = (maxLength) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString('latin1'))

/** Generates edits of a text: a position, the number of removed characters, and the inserted text. Half of the lists are empty. */
export function edits(dictionary, most = 2) {
  const position = fc.oneof(fc.nat(3000), pick(0, -1, -1, -2, -3))
  const edit = fc.tuple(position, pick(0, 0, 1, 1, 4), fc.oneof(pick('', ...dictionary), byteString(2)))
  return weighted([1, fc.constant([])], [1, fc.array(edit, { maxLength: most })])
}

/** Applies edits in turn. A negative position counts from the end: -1 is after the last character. */
export function edited(text, list) {
  return list.reduce((old, [at, removed, put]) => {
    const index = at < 0 ? Math.max(0, old.length + at + 1) : at % (old.length + 1)
    return old.slice(0, index) + put + old.slice(index + removed)
  }, text)
}

/** Generates texts with edits. */
export const editedBy = (texts, dictionary) => fc.tuple(texts, edits(dictionary)).map((pair) => edited(...pair))

/**
 * Generates the text of a JSON object: the members of a valid object, then changes. A change replaces, removes, repeats or adds a
 * member. Names and values are JSON texts, so that a name can be spelt with escapes and can occur twice.
 */
export function jsonObject(base, names, values) {
  const change = fc.tuple(
    pick('replace', 'replace', 'replace', 'remove', 'first', 'last'),
    pick(...names),
    pick(...values),
  )
  const layout = pick(...Array(8).fill('plain'), 'spaces', 'escaped', 'mark', 'trailing', 'reversed')
  return fc.tuple(fc.array(change, { maxLength: 2 }), layout).map(([changes, form]) => {
    let members = Object.entries(base).map(([name, value]) => [name, JSON.stringify(value)])
    for (const [how, name, value] of changes) {
      const kept = members.filter(([other]) => other !== name)
      if (how === 'remove') members = kept
      if (how === 'replace') members = [...kept, [name, value]]
      if (how === 'first') members = [[name, value], ...members]
      if (how === 'last') members = [...members, [name, value]]
    }
    return utf8(written(members, form))
  })
}

function written(members, form) {
  const list = form === 'reversed' ? members.toReversed() : members
  const space = form === 'spaces' ? ' \n\t' : ''
  const nameOf = (name) =>
    form === 'escaped' && name !== ''
      ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`
      : JSON.stringify(name)
  const text = `{${list.map(([name, value]) => `${space}${nameOf(name)}${space}:${space}${value}`).join(',')}${space}}`
  return `${form === 'mark' ? '\ufeff' : ''}${text}${form === 'trailing' ? ' x' : ''}`
}
