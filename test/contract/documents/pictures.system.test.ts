// Tests docs/assets/*.svg
import { describe, expect, test } from 'vitest'
import { shippedPictures } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'
import { NO_CHROMIUM, shareBrowser } from '../../support/services/chromium.js'

/** Width of a picture on a phone, and the height of text that is readable there, in pixels. */
const PHONE = 360
const READABLE = 10

interface Picture {
  /** Sizes of the fonts on a phone. */
  sizes: number[]
  /** Texts that touch the edge of the picture or of their box. */
  outside: string[]
  /** Pairs of texts that cover each other. */
  overlaps: string[]
  /** The contrast of each text and its background, as WCAG defines it. */
  contrasts: number[]
}

/** Measures the picture that the browser shows. Runs in the browser. */
const MEASURE = `(() => {
  const { width } = document.documentElement.viewBox.baseVal
  const boxOf = (node) => {
    const { x, y, width, height } = node.getBBox()
    return { node, x, y, right: x + width, bottom: y + height }
  }
  const texts = [...document.querySelectorAll('text')].map(boxOf)
  const rects = [...document.querySelectorAll('rect')].map(boxOf)
  const holds = (rect, { x, y, right, bottom }) =>
    (x + right) / 2 > rect.x && (x + right) / 2 < rect.right && (y + bottom) / 2 > rect.y && (y + bottom) / 2 < rect.bottom
  const light = (colour) => {
    const [r, g, b] = colour.match(/\\d+/g).map((n) => (n / 255 <= 0.04045 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
  }
  const fill = (node) => getComputedStyle(node).fill
  const name = ({ node }) => node.textContent
  return {
    sizes: texts.map(({ node }) => (parseFloat(getComputedStyle(node).fontSize) * ${PHONE}) / width),
    outside: texts
      .filter((text) =>
        rects.some((rect) => holds(rect, text) && (text.x < rect.x + 2 || text.right > rect.right - 2 || text.y < rect.y || text.bottom > rect.bottom)),
      )
      .map(name),
    overlaps: texts.flatMap((a, i) =>
      texts
        .slice(i + 1)
        .filter((b) => a.x < b.right && b.x < a.right && a.y + 4 < b.bottom && b.y + 4 < a.bottom)
        .map((b) => name(a) + ' | ' + name(b)),
    ),
    contrasts: texts.map((text) => {
      const behind = rects.filter((rect) => holds(rect, text) && fill(rect.node) !== 'none').at(-1)
      const [low, high] = [light(fill(text.node)), light(fill(behind.node))].sort((a, b) => a - b)
      return high / low
    }),
  }
})()`

describe.skipIf(NO_CHROMIUM)('the pictures of the pages', () => {
  const browser = shareBrowser()

  test.each(shippedPictures())('%s is readable on a phone, by day and by night', async (path) => {
    const page = await browser().newPage()
    const backgrounds = new Set<string>()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`file://${root}${path}`)
      const { sizes, outside, overlaps, contrasts } = await page.evaluate<Picture>(MEASURE)
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(READABLE)
      expect(outside).toEqual([])
      expect(overlaps).toEqual([])
      expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(4.5)
      backgrounds.add(await page.evaluate<string>(`getComputedStyle(document.querySelector('.page')).fill`))
    }
    await page.close()
    expect(backgrounds.size).toBe(2)
  })
})
