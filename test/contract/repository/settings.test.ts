import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { manifest, parseYaml, read, yamlFiles } from './files.js'

it('.github has YAML files without mistakes', () => {
  const files = yamlFiles('.github')
  expect(files).toContain('.github/dependabot.yml')
  for (const file of files) expect(parseYaml(file)).toEqual(expect.any(Object))
})

describe('Dependabot', () => {
  interface Update {
    'package-ecosystem': string
    directory: string
    ignore?: { 'dependency-name': string; versions: string[] }[]
  }
  const { updates } = parseYaml<{ updates: Update[] }>('.github/dependabot.yml')
  const watched = (ecosystem: string) =>
    updates.filter((update) => update['package-ecosystem'] === ecosystem).map(({ directory }) => directory)

  it('watches all lock files and the workflows', () => {
    expect(watched('npm')).toEqual([
      '/',
      '/test/performance/peers',
      '/test/hosts',
      '/test/contract/documents/pictures/renderer',
    ])
    for (const folder of watched('npm'))
      expect(existsSync(new URL(`../../..${folder}/package-lock.json`, import.meta.url))).toBe(true)
    expect(watched('github-actions')).toEqual(['/'])
  })

  it('ignores versions only of packages that are used, and only newer ones', () => {
    const used = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const { 'dependency-name': name, versions } of updates.flatMap(({ ignore = [] }) => ignore)) {
      expect(used).toHaveProperty([name])
      const major = Number(/\d+/.exec(used[name]?.replace(/^npm:.*@/, '') ?? ''))
      const [, ignored] = /^>=([\d.]+)$/.exec(versions.join()) ?? []
      expect(Number.parseFloat(ignored ?? '')).toBeGreaterThan(major)
    }
  })
})

it('.node-version is the oldest Node that package.json supports', () => {
  expect(manifest.engines.node).toMatch(`^${read('.node-version').trim()} || `)
})

it('CHANGELOG.md has a section for what is not released, and the version of package.json with its date', () => {
  const [unreleased, newest] = read('CHANGELOG.md').match(/^## .*/gm) ?? []
  expect(unreleased).toBe('## Unreleased')
  expect(newest).toMatch(/^## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$/)
  expect(newest).toContain(`## ${manifest.version} - `)
})
