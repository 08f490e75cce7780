import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { manifest, read } from './files.js'

interface Component {
  name: string
  version: string
  hashes?: unknown[]
}

const program = fileURLToPath(new URL('../../../.ci/sbom.mjs', import.meta.url))

describe('the SBOM (node .ci/sbom.mjs)', () => {
  const text = execFileSync(process.execPath, [program], { encoding: 'utf8', maxBuffer: 1e8, stdio: 'pipe' })
  const { bomFormat, components }: { bomFormat: string; components: Component[] } = JSON.parse(text)
  const names = components.map(({ name }) => name)

  it('is CycloneDX, and has all dependencies and Express', () => {
    expect(bomFormat).toBe('CycloneDX')
    expect(names).toEqual(expect.arrayContaining([...Object.keys(manifest.dependencies), 'express']))
  })

  it('has no development dependency', () => {
    const development = Object.keys(manifest.devDependencies).filter((name) => name !== 'express')
    expect(development.filter((name) => names.includes(name))).toEqual([])
  })

  it('has the versions of the lock file, with their hashes', () => {
    const { packages }: { packages: Record<string, { version: string }> } = JSON.parse(read('package-lock.json'))
    const locked = new Set(
      Object.entries(packages).map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')}@${version}`),
    )
    expect(components.filter(({ name, version }) => !locked.has(`${name}@${version}`))).toEqual([])
    expect(components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([])
  })
})
