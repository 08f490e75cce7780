/**
 * Knows which texts came lately, by four bytes of each: who comes for the second time is let in. Now and then it takes a text for
 * another one, or forgets one.
 * @param places how many it remembers, at most
 */
export function createDoorkeeper(places: number): (text: string) => boolean {
  const marks = new Uint32Array(places)
  return (text) => {
    const mark = markOf(text)
    const place = (mark >>> 1) % places
    const knows = marks[place] === mark
    marks[place] = mark
    return knows
  }
}

/** The end of a token is the end of its signature, which is as good as random. */
function markOf(text: string): number {
  let mark = 0
  for (let i = Math.max(0, text.length - 12); i < text.length; i++) {
    mark = Math.imul(mark, 0x01000193) ^ text.charCodeAt(i)
  }
  // None is 0, which is an empty place.
  return (mark | 1) >>> 0
}
