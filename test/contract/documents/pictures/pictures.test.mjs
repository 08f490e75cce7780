import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DOCS, diagrams, digestIn, digestOf, readRendered, sources } from './sources.mjs'

const SAY = 'run `npm run docs:pictures`, and look at the result'

describe('pictures', () => {
  it.each(sources())('$svg is made from $path as it is now', ({ svg, code }) => {
    const picture = readFileSync(new URL(svg, DOCS), 'utf8')
    expect(digestIn(picture), SAY).toBe(digestOf(code))
    expect(picture).toMatch(/<title>.+<\/title><desc>.+<\/desc>/)
    expect(picture).toContain('prefers-color-scheme: dark')
  })

  it('are those that the renderer accepted', () => {
    const now = Object.fromEntries(diagrams().map(({ name, code }) => [name, digestOf(code)]))
    expect(readRendered(), SAY).toEqual(now)
    expect(Object.keys(now).length).toBeGreaterThanOrEqual(3)
  })

  it('of the services are the same in the README and on its page', () => {
    const [services] = sources().filter(({ path }) => path === 'assets/services.mmd')
    const page = diagrams().filter(({ name }) => name.startsWith('explanation/how-it-works.md'))
    expect(page.map(({ code }) => code)).toContain(services?.code.replace(/^%%.*\n/gm, ''))
    expect(readFileSync(new URL('../README.md', DOCS), 'utf8')).toContain('](docs/assets/services.svg)')
  })
})
