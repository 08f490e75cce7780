import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** The first version of each line of jws that is fixed. Lines before 3 have no fix. */
const FIXED: Record<number, string> = { 3: '3.2.3', 4: '4.0.1' }

const partsOf = (version: string) => version.split('.').map(Number)

/** Returns whether a version is at least another version. A pre-release is lower than its release. */
function isAtLeast(version: string, least: string): boolean {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return false
  const [given, needed] = [partsOf(version), partsOf(least)]
  const at = given.findIndex((number, i) => number !== needed[i])
  return at < 0 || (given[at] as number) > (needed[at] as number)
}

const isFixed = (version: string) => {
  const [major = 0] = partsOf(version)
  return major > 4 || (FIXED[major] !== undefined && isAtLeast(version, FIXED[major]))
}

// jws verified an HMAC by an empty secret.
describe.each(['package-lock.json', 'test/performance/bench/peers/package-lock.json'])(
  'GHSA-869p-cjfg-cm3x: jws before 3.2.3 and 4.0.1: %s',
  (file) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
    const packages = Object.entries(JSON.parse(text).packages as Record<string, { name?: string; version: string }>)
    const versionsOf = (name: string) =>
      packages
        .filter(([path, { name: real }]) => (real ?? path.split('node_modules/').at(-1)) === name)
        .map(([, { version }]) => version)

    it('every jws is fixed', () => {
      const versions = versionsOf('jws')
      expect(versions).not.toEqual([])
      expect(versions.filter((version) => !isFixed(version))).toEqual([])
    })

    it('every jsonwebtoken is 9.0.3 or newer', () => {
      const versions = versionsOf('jsonwebtoken')
      expect(versions).not.toEqual([])
      expect(versions.filter((version) => !isAtLeast(version, '9.0.3'))).toEqual([])
    })
  },
)

describe('the comparison of versions', () => {
  it.each([
    ['3.2.2', false],
    ['3.2.3', true],
    ['3.10.0', true],
    ['4.0.0', false],
    ['4.0.1', true],
    ['4.1.0', true],
    ['4.0.1-beta.1', false],
    ['5.0.0', true],
    ['2.9.9', false],
    ['0.2.6', false],
  ])('jws %s is fixed: %s', (version, fixed) => expect(isFixed(version)).toBe(fixed))

  it.each([
    ['9.0.2', false],
    ['9.0.3', true],
    ['9.1.0', true],
    ['10.0.0', true],
    ['8.5.1', false],
    ['9.0.3-rc.1', false],
  ])('jsonwebtoken %s is new enough: %s', (version, enough) => expect(isAtLeast(version, '9.0.3')).toBe(enough))
})

it('no user installs jws or jsonwebtoken with this package: Node signs, and has no such fault', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(Object.keys(dependencies).filter((name) => /^(jwa|jws|jsonwebtoken)$/.test(name))).toEqual([])
})
