import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { prose, root } from '../../support/documents/readme.js'

/** Returns GitHub's anchor of a heading: lower case, no punctuation, and a dash for each space. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const headings = [...prose.matchAll(/^(#+) (.+)$/gm)].map(([, marks = '', text = '']) => ({
  level: marks.length,
  text,
}))
const anchors = headings.map(({ text }) => anchorOf(text))

const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
const isWeb = (target: string) => target.startsWith('https://')

describe("the README's links", () => {
  it('are found at all', () => {
    expect(targets.filter((target) => target.startsWith('#')).length).toBeGreaterThan(20)
    expect(targets).toContain('.github/SECURITY.md')
    expect(anchorOf('`remoteKeys(url, options?)`')).toBe('remotekeysurl-options')
  })

  it('within it lead to one heading each', () => {
    const inside = targets.filter((target) => target.startsWith('#')).map((target) => target.slice(1))
    expect(inside.filter((anchor) => anchors.filter((one) => one === anchor).length !== 1)).toEqual([])
  })

  it('to files lead to files', () => {
    const files = targets.filter((target) => !target.startsWith('#') && !isWeb(target))
    expect(files.filter((file) => !existsSync(root + file))).toEqual([])
  })

  it('outside are https', () => {
    expect(prose.match(/\]\(http:/g)).toBeNull()
  })

  it('in its contents are all its sections, in their order', () => {
    const [contents = ''] = /^\*\*Contents:\*\*[\s\S]*?\n\n/m.exec(prose) ?? []
    const listed = [...contents.matchAll(/\[([^\]]+)\]\(#/g)].map(([, name]) => name)
    expect(listed).toEqual(headings.filter(({ level }) => level === 2).map(({ text }) => text))
  })
})
