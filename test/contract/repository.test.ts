import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { filesBelow, root } from '../support/documents/repository.js'

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

const manifest: {
  version: string
  publishConfig?: { tag: string }
  engines: { node: string }
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
} = JSON.parse(read('package.json'))

const yamlFiles = (folder: string) => filesBelow(folder).filter((file) => /\.ya?ml$/.test(file))

/**
 * Parses a YAML file, in which each key may occur once.
 * @throws Error for malformed YAML
 */
function parseYaml<T>(path: string): T {
  const document = parseDocument(read(path), { strict: true, uniqueKeys: true })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new Error(`${path}: ${problem.message}`)
  return document.toJS()
}

it('.github has YAML files without mistakes', () => {
  for (const file of yamlFiles('.github')) expect(parseYaml(file)).toEqual(expect.any(Object))
})

it('.node-version is the oldest Node that package.json supports', () => {
  expect(manifest.engines.node).toMatch(`^${read('.node-version').trim()} || `)
})

it('the SBOM (node .ci/sbom.mjs) has all dependencies, no development dependency, and the versions and hashes of the lock file', () => {
  const options = { encoding: 'utf8', maxBuffer: 1e8, stdio: 'pipe' } as const
  const bom = JSON.parse(execFileSync(process.execPath, [`${root}.ci/sbom.mjs`], options))
  const components: { name: string; version: string; hashes?: unknown[] }[] = bom.components
  const names = components.map(({ name }) => name)
  expect(bom.bomFormat).toBe('CycloneDX')
  expect(names).toEqual(expect.arrayContaining([...Object.keys(manifest.dependencies), 'express']))
  const development = Object.keys(manifest.devDependencies).filter((name) => name !== 'express')
  expect(development.filter((name) => names.includes(name))).toEqual([])
  const { packages }: { packages: Record<string, { version: string }> } = JSON.parse(read('package-lock.json'))
  const locked = Object.entries(packages).map(([path, one]) => `${path.replace(/.*node_modules\//, '')}@${one.version}`)
  expect(components.filter(({ name, version }) => !locked.includes(`${name}@${version}`))).toEqual([])
  expect(components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([])
})

it('package.json publishes a release candidate as "next", and each other version as "latest"', () => {
  expect(manifest.publishConfig?.tag).toBe(manifest.version.includes('-') ? 'next' : undefined)
})

it('the badges of the README are from workflows that run, and from npm', () => {
  const badges = [...read('README.md').matchAll(/\[!\[[^\]]+\]\((https:[^)]+)\)/g)].map(([, url = '']) => url)
  expect(badges.length).toBeLessThanOrEqual(4)
  const workflows = badges.flatMap((url) => /\/workflows\/([\w.]+)\/badge\.svg$/.exec(url)?.[1] ?? [])
  expect(workflows.filter((name) => !existsSync(`${root}.github/workflows/${name}`))).toEqual([])
  const others = badges.filter((url) => !url.includes('/workflows/'))
  expect(others.map((url) => new URL(url).hostname).sort()).toEqual(['api.scorecard.dev', 'img.shields.io'])
})

interface Job {
  needs?: string
  uses?: string
  permissions?: Record<string, string>
  steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[]
  'timeout-minutes'?: number
}

interface Workflow {
  on: Record<string, unknown>
  permissions?: object
  jobs: Record<string, Job>
}

const PATHS = yamlFiles('.github/workflows')
const WORKFLOWS = PATHS.map((path): [string, Workflow] => [path.replace(/.*\//, ''), parseYaml(path)])
const workflow = (name: string) => WORKFLOWS.find(([file]) => file === name)?.[1] ?? expect.fail(`${name} is missing`)

const JOBS = WORKFLOWS.flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([id, job]): [string, Job] => [`${file}, ${id}`, job]),
)
const STEPS = JOBS.flatMap(([, { steps = [] }]) => steps)
const COMMANDS = STEPS.flatMap(({ run = '' }) => run.split('\n'))
/** Returns what a pattern captures in the commands of all workflows. */
const inCommands = (pattern: RegExp) =>
  COMMANDS.flatMap((command) => [...command.matchAll(pattern)].map(([, found = '']) => found))

describe('workflows', () => {
  it('run npm scripts and files that exist', () => {
    const scripts = inCommands(/\bnpm run (?:--?\S+ )*(\S+)/g)
    expect(scripts).toContain('test:matrix')
    expect(scripts.filter((name) => !manifest.scripts[name])).toEqual([])
    const files = inCommands(/(?:^|node )(\.ci\/\S+)/g)
    expect(files.sort()).toEqual(['.ci/run', '.ci/sbom.mjs'])
    expect(files.filter((file) => !existsSync(root + file))).toEqual([])
  })

  it('use actions by the hash of a commit, with the version as a comment', () => {
    const lines = PATHS.flatMap((path) => read(path).split('\n')).filter((line) => /^\s*(- )?uses:/.test(line))
    const pinned = /uses: ([\w-]+\/[\w/-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$/
    expect(lines.filter((line) => !pinned.test(line)).map((line) => line.trim())).toEqual([
      'uses: ./.github/workflows/test.yml',
    ])
  })

  it('have no permission by default, and each job has those that it needs', () => {
    expect(
      WORKFLOWS.filter(([, { permissions }]) => JSON.stringify(permissions) !== '{}').map(([file]) => file),
    ).toEqual([])
    expect(Object.fromEntries(JOBS.map(([name, { permissions }]) => [name, permissions]))).toEqual({
      'codeql.yml, analyze': { contents: 'read', 'security-events': 'write' },
      'scorecard.yml, analyze': { contents: 'read', 'security-events': 'write', 'id-token': 'write' },
      'release.yml, test': { contents: 'read' },
      'release.yml, pack': { contents: 'read' },
      'release.yml, stage': { 'id-token': 'write', attestations: 'write' },
      'release.yml, github-release': { contents: 'write' },
      'test.yml, everything': { contents: 'read' },
      'test.yml, matrix': { contents: 'read' },
      'test.yml, runtimes': { contents: 'read' },
    })
  })

  it('run in a job that can write only the command that writes, and install nothing there', () => {
    const writing = JOBS.filter(([, { permissions = {} }]) => Object.values(permissions).includes('write'))
    const commands = writing.flatMap(([, { steps = [] }]) => steps.flatMap(({ run = '' }) => run.split('\n')))
    const names = commands.filter(Boolean).map((command) => command.split(' ').slice(0, 3).join(' '))
    expect(names).toEqual(['npm stage publish', 'gh release create'])
    const actions = writing.flatMap(([, { steps = [] }]) => steps.map(({ uses = '' }) => uses.replace(/@.*/, '')))
    expect([...new Set(actions.filter(Boolean))].sort()).toEqual([
      'actions/attest',
      'actions/checkout',
      'actions/download-artifact',
      'actions/setup-node',
      'github/codeql-action/analyze',
      'github/codeql-action/init',
      'github/codeql-action/upload-sarif',
      'ossf/scorecard-action',
    ])
  })

  it('leave no token in the working copy', () => {
    const checkouts = STEPS.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts).not.toEqual([])
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([])
  })

  it('put no expression into a command, because its value could be code', () => {
    expect(COMMANDS.filter((command) => command.includes('${{'))).toEqual([])
  })

  it('do not run code of a pull request with permissions to write', () => {
    expect(WORKFLOWS.filter(([, { on }]) => 'pull_request_target' in on || 'workflow_run' in on)).toEqual([])
  })

  it('end after a time', () => {
    const endless = JOBS.filter(([, job]) => !job.uses && !job['timeout-minutes'])
    expect(endless.map(([name]) => name)).toEqual([])
  })
})

describe('release.yml', () => {
  const { jobs } = workflow('release.yml')
  const commandsOf = (job: string) =>
    (jobs[job]?.steps ?? []).map(({ run, uses = '' }) => run ?? uses.replace(/@.*/, '')).join('\n')

  it('tests, packs, stages and describes, in this order', () => {
    expect(jobs).toMatchObject({
      test: { uses: './.github/workflows/test.yml' },
      pack: { needs: 'test' },
      stage: { needs: 'pack' },
      'github-release': { needs: 'stage' },
    })
    expect(commandsOf('pack')).toMatch(/npm ci.*npm pack.*TEST_TARBALL=.*actions\/upload-artifact/s)
    expect(commandsOf('stage')).toMatch(/actions\/download-artifact.*actions\/attest.*npm stage publish/s)
  })

  it('runs nothing of the repository where it can publish', () => {
    expect(commandsOf('stage')).not.toMatch(/actions\/checkout|npm (ci|run|test)|npx|node /)
    expect(commandsOf('stage')).not.toMatch(/npm (i|install|exec|x)\b|corepack/)
  })

  it('publishes with the npm of an exact version of Node, and without a cache', () => {
    const setup = jobs['stage']?.steps?.find(({ uses }) => uses?.startsWith('actions/setup-node@'))
    expect(setup?.with).toMatchObject({
      'node-version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      'package-manager-cache': false,
    })
  })

  it('stages with provenance, and publishes nothing without a maintainer', () => {
    expect(commandsOf('stage')).toMatch(/^npm stage publish \S+ --provenance --access public$/m)
    expect(COMMANDS.filter((command) => /npm publish/.test(command))).toEqual([])
  })

  it('knows no token for npm', () => {
    const texts = PATHS.map(read).join('\n')
    expect(texts).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN|secrets\./)
  })

  it('runs for tags of versions only', () => {
    expect(workflow('release.yml').on).toEqual({
      push: { tags: ['v[0-9]+.[0-9]+.[0-9]+', 'v[0-9]+.[0-9]+.[0-9]+-rc.[0-9]+'] },
    })
  })
})
