import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Prints the software bill of materials (CycloneDX) of the package: its dependencies and Express, in the lock file's versions.
// `npm sbom --omit dev` also omits dependencies that a development dependency needs, so this script removes those from a copy.

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), 'sbom-'))
const folder = join(temporary, 'express-token-endpoint')
const npm = (...args) =>
  execFileSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1e8,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

try {
  mkdirSync(folder)
  const { name, version, license, dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  for (const peer of Object.keys(peerDependenciesMeta)) delete peerDependencies[peer]
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, version, license, dependencies, peerDependencies }),
  )
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'))
  npm('install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund')
  process.stdout.write(npm('sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'))
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
