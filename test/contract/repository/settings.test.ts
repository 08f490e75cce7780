import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { manifest, parseYaml, read, yamlFiles } from './files.js'

describe('.github', () => {
  it('has YAML files without mistakes', () => {
    const files = yamlFiles('.github')
    expect(files).toContain('.github/dependabot.yml')
    for (const file of files) expect(parseYaml(file)).toEqual(expect.any(Object))
  })

  it('has the issue forms bug, feature and question, and no empty issue', () => {
    const files = yamlFiles('.github/ISSUE_TEMPLATE').map((file) => file.replace(/.*\//, ''))
    expect(files.sort()).toEqual(['bug.yml', 'config.yml', 'feature.yml', 'question.yml'])
    expect(parseYaml('.github/ISSUE_TEMPLATE/config.yml')).toMatchObject({
      blank_issues_enabled: false,
      contact_links: [
        { name: 'Report a vulnerability', url: expect.stringMatching(/^https:/), about: expect.any(String) },
      ],
    })
  })

  // https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
  it.each(['bug', 'feature', 'question'])('%s.yml is a form that GitHub accepts', (name) => {
    interface Field {
      type: string
      id?: string
      attributes: { label?: string; value?: string; options?: { label: string }[] }
    }
    const form = parseYaml<{ name: string; description: string; body: Field[] }>(`.github/ISSUE_TEMPLATE/${name}.yml`)
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    const fields = form.body.filter(({ type }) => type !== 'markdown')
    expect(fields).not.toEqual([])
    for (const { type, id, attributes } of fields) {
      expect(type).toMatch(/^(input|textarea|dropdown|checkboxes)$/)
      expect(id).toMatch(/^[\w-]+$/)
      expect(attributes.label).toEqual(expect.any(String))
      if (type === 'checkboxes' || type === 'dropdown') expect(attributes.options).not.toEqual([])
    }
    for (const { attributes } of form.body.filter(({ type }) => type === 'markdown')) {
      expect(attributes.value).toEqual(expect.any(String))
    }
    const unique = (values: unknown[]) => expect(new Set(values).size).toBe(values.length)
    unique(fields.map(({ id }) => id))
    unique(fields.map(({ attributes }) => attributes.label))
  })
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

describe('editors', () => {
  it('format as biome does', () => {
    const { formatter } = JSON.parse(read('biome.json'))
    const [all = ''] = read('.editorconfig').split('\n[*.md]')
    expect(all).toContain(`indent_style = ${formatter.indentStyle}\n`)
    expect(all).toContain(`indent_size = ${formatter.indentWidth ?? 2}\n`)
    expect(all).toContain(`max_line_length = ${formatter.lineWidth}\n`)
  })

  it('use the oldest Node that package.json supports', () => {
    expect(manifest.engines.node).toMatch(`^${read('.node-version').trim()} || `)
  })
})

describe('CHANGELOG.md', () => {
  const sections = read('CHANGELOG.md').match(/^## .*/gm) ?? []

  it('has a section for changes that are not released, and below it the version of package.json with its date', () => {
    const [unreleased, newest] = sections
    expect(unreleased).toBe('## Unreleased')
    expect(newest).toMatch(/^## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$/)
    expect(newest).toContain(`## ${manifest.version} - `)
  })
})

describe('CONTRIBUTING.md', () => {
  it('names npm scripts and files that exist', () => {
    const text = read('.github/CONTRIBUTING.md')
    const scripts = [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = '']) => name)
    expect(scripts).toContain('test:unit')
    expect(scripts.filter((name) => !manifest.scripts[name])).toEqual([])
    const files = [...text.matchAll(/`(\.[\w./-]+)`/g)].map(([, file = '']) => file)
    expect(files.sort()).toEqual([
      '.ci/run',
      '.github/dependabot.yml',
      '.github/workflows/release.yml',
      '.node-version',
    ])
    for (const file of files) expect(read(file)).not.toBe('')
  })
})
