import { readFileSync } from 'node:fs'

const { compare } = new Intl.Collator('en', { sensitivity: 'base' })

/** The characters that a key omits although collations give them a weight. `accountKey` says why. */
const OMITTED = /[\p{DI}\p{Cf}\p{Cc}\p{M}\p{LOE}\s·Ιء\ufffd]/u

/**
 * Letters that ICU does not treat as equal. utf8mb4_unicode_ci does: Georgian capitals of two kinds, Bengali signs for 1 to 4, and an
 * Arabic sign that it ignores. U+1D4C equals one letter for ICU, and becomes the other letter in NFKD.
 */
const OTHER_RULES = [
  ['\u06de', ''],
  ['\ua7ab', '\u1d08'],
  ...Array.from({ length: 38 }, (_, i) => [String.fromCodePoint(0x1c90 + i), String.fromCodePoint(0x10a0 + i)]),
  ...['1', '2', '3', '4'].map((digit, i) => [String.fromCodePoint(0x09f4 + i), digit]),
] as [string, string][]

/** A text that sorts after every text with the same beginning. */
const LAST = '\uffff'

/** Returns all characters, without those that this Node does not know. */
export function knownCharacters(): string[] {
  return Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
    (character) => !/[\p{Co}\p{Cn}\p{Cs}]/u.test(character) || /\p{DI}/u.test(character),
  )
}

/** The file with the characters of the Unicode version from which the letters were written. */
export const TABLE = new URL('./unicode-17.json', import.meta.url)

/** Returns the known characters, without those that newer versions of Unicode have added. */
export function charactersOfTable(): string[] {
  const inTable = new Uint8Array(0x110000)
  let code = 0
  for (const [i, length] of (JSON.parse(readFileSync(TABLE, 'utf8')) as string).split(' ').entries()) {
    const next = code + Number.parseInt(length, 36)
    if (i % 2 === 1) inTable.fill(1, code, next)
    code = next
  }
  return knownCharacters().filter((character) => inTable[codeOf(character)] === 1)
}

/** Writes characters for that file: the lengths of gaps and of runs in turn, in base 36. */
export function writtenCharacters(characters: readonly string[]): string {
  const lengths: number[] = []
  let last = -1
  for (const code of characters.map(codeOf)) {
    if (code === last + 1 && lengths.length > 0) lengths[lengths.length - 1] = (lengths.at(-1) ?? 0) + 1
    else lengths.push(code - last - 1, 1)
    last = code
  }
  return JSON.stringify(lengths.map((length) => length.toString(36)).join(' '))
}

/**
 * Returns the text that stands in a key for each letter that is not its own key. It is the same text for all letters that this Node's
 * ICU treats as equal at level 1.
 */
export function equalLetters(characters = knownCharacters()): Map<string, string> {
  const found = new Map(OTHER_RULES)
  const groups = groupsOf(characters.filter((one) => one.normalize('NFKD').toUpperCase() === one))
  const singles: string[] = []
  const composed: string[][] = []
  const setAll = (group: string[], text: string) => {
    for (const letter of group) if (text !== ownKey(letter) && !found.has(letter)) found.set(letter, text)
  }
  for (const group of groups) {
    const [first = ''] = group
    const before = singles.at(-1)
    if (compare(first, '') === 0) setAll(group, '')
    else if (before !== undefined && compare(first, before + LAST) < 0) composed.push(group)
    else {
      singles.push(first)
      setAll(group, ownKey(first))
    }
  }
  for (const group of composed)
    setAll(
      group,
      textOf(group[0] as string, singles)
        .map(ownKey)
        .join(''),
    )
  return found
}

/** The key of a letter that no collation treats as equal to another letter. */
const ownKey = (letter: string) => (letter.length > 1 || OMITTED.test(letter) ? '' : letter)

/** Returns groups of equal letters in the order of the collation. Each group begins with the letter whose key is that of the group. */
function groupsOf(letters: string[]): string[][] {
  const groups: string[][] = []
  for (const letter of letters.sort(compare)) {
    const last = groups.at(-1)
    if (last && compare(last[0] as string, letter) === 0) last.push(letter)
    else groups.push([letter])
  }
  const rank = (one: string) => [
    /[\sΙء·\p{LOE}]/u.test(one) ? 0 : 1,
    ownKey(one) === '' ? 1 : 0,
    one.codePointAt(0) ?? 0,
  ]
  const byRank = (one: string, other: string) => {
    const [ranks, others] = [rank(one), rank(other)]
    return ranks.map((n, i) => n - (others[i] ?? 0)).find((n) => n !== 0) ?? 0
  }
  return groups.map((group) => group.sort(byRank))
}

/** Returns the letters that together equal a letter. The rest of a letter that equals no text consists of marks. */
function textOf(letter: string, singles: readonly string[]): string[] {
  const text: string[] = []
  while (compare(text.join(''), letter) !== 0 && text.length < 8) {
    let [low, high] = [0, singles.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(text.join('') + singles[middle], letter) > 0) high = middle
      else low = middle + 1
    }
    text.push(singles[low - 1] ?? '')
  }
  return text
}

/**
 * Writes the letters as text for `equal-letters.ts`: runs of successive letters with successive texts. A run has three parts, in base 36:
 * - the distance of its first letter from the last letter of the run before,
 * - after a plus, the number of further letters,
 * - after a colon, the code points of the first text.
 */
export function written(letters: ReadonlyMap<string, string>): string {
  const sorted = [...letters].sort(([one], [other]) => codeOf(one) - codeOf(other))
  const runs: { from: number; more: number; text: string }[] = []
  for (const [letter, text] of sorted) {
    const run = runs.at(-1)
    const next = run && run.more + 1
    const continues =
      run && next && run.text.length === 1 && codeOf(letter) === run.from + next && text === after(run.text, next)
    if (continues) run.more = next
    else runs.push({ from: codeOf(letter), more: 0, text })
  }
  let last = 0
  return runs
    .map(({ from, more, text }) => {
      const distance = from - last
      last = from + more
      const codes = [...text].map((one) => codeOf(one).toString(36))
      return `${distance.toString(36)}${more ? `+${more.toString(36)}` : ''}:${codes.join(',')}`
    })
    .join(' ')
}

const codeOf = (character: string) => character.codePointAt(0) ?? 0
const after = (text: string, count: number) => String.fromCodePoint(codeOf(text) + count)
