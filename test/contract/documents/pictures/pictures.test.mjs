import { describe, expect, it } from 'vitest'
import { readPage } from '../../../support/documents/pages.js'
import { documents } from '../../../support/documents/repository.js'
import { diagrams, digestOf, pictures, readRendered } from './sources.mjs'

const all = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => found)

describe('pictures', () => {
  it('are those that the renderer accepted', () => {
    const now = Object.fromEntries(diagrams().map(({ name, code }) => [name, digestOf(code)]))
    expect(readRendered(), 'run `npm run docs:pictures`').toEqual(now)
    expect(Object.keys(now).length).toBeGreaterThanOrEqual(3)
  })

  it.each(pictures())('$path can be read in a column of GitHub, in the dark and by a screen reader', ({ text }) => {
    const [, width] = /viewBox="0 0 (\d+) \d+"/.exec(text)
    expect(Number(width)).toBeLessThanOrEqual(700)
    expect(Math.min(...all(text, /font: (\d+)px/g).map(Number))).toBeGreaterThanOrEqual(14)
    expect(text).toMatch(/<title>.+<\/title>\s*<desc>.+<\/desc>/)
    const [light, dark] = text.split('@media (prefers-color-scheme: dark)')
    const coloured = all(light, /^ +(\.?[a-z]+) \{[^}]*#[^}]*\}$/gm)
    expect(coloured).toContain('.page')
    expect(coloured.filter((name) => !dark.includes(`${name} {`) && name !== 'text')).toEqual([])
  })

  it('are on a page, with a text that says the same', () => {
    const images = documents().flatMap((path) => all(readPage(path).prose, /(!\[[^\]]*\]\([^)]*\.svg\))/g))
    for (const { path } of pictures()) {
      const [image] = images.filter((one) => one.includes(path))
      expect(image?.length, path).toBeGreaterThan(100)
    }
  })
})
