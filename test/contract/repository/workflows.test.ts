import { describe, expect, it } from 'vitest'
import { manifest, parseYaml, read, yamlFiles } from './files.js'

type Permissions = Record<string, string>

interface Step {
  name?: string
  uses?: string
  run?: string
  with?: Record<string, unknown>
  env?: Record<string, string>
}

interface Job {
  uses?: string
  permissions?: Permissions
  steps?: Step[]
  strategy?: { matrix: Record<string, string[]> }
  'timeout-minutes'?: number
}

interface Workflow {
  on: Record<string, unknown>
  permissions?: Permissions
  jobs: Record<string, Job>
}

const PATHS = yamlFiles('.github/workflows')
const WORKFLOWS = PATHS.map((path): [string, Workflow] => [path.replace(/.*\//, ''), parseYaml(path)])
const workflow = (name: string) => WORKFLOWS.find(([file]) => file === name)?.[1] ?? expect.fail(`${name} is missing`)

const JOBS = WORKFLOWS.flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([id, job]): [string, Job] => [`${file}, ${id}`, job]),
)
const STEPS = JOBS.flatMap(([job, { steps = [] }]) => steps.map((step) => ({ job, ...step })))
const COMMANDS = STEPS.flatMap(({ run = '' }) => run.split('\n'))

describe('workflows', () => {
  it('are for tests, CodeQL and releases', () => {
    expect(WORKFLOWS.map(([file]) => file).sort()).toEqual(['codeql.yml', 'release.yml', 'test.yml'])
  })

  it('run npm scripts and files that exist', () => {
    const scripts = COMMANDS.flatMap((command) =>
      [...command.matchAll(/\bnpm run (?:--?\S+ )*(\S+)/g)].map(([, name]) => name),
    )
    expect(scripts).toContain('test:matrix')
    expect(scripts.filter((name) => !manifest.scripts[name as string])).toEqual([])

    const files = COMMANDS.flatMap((command) =>
      [...command.matchAll(/(?:^|node )(\.ci\/\S+)/g)].map(([, file]) => file),
    )
    expect(files.sort()).toEqual(['.ci/run', '.ci/sbom.mjs'])
    for (const file of files) expect(read(file as string)).not.toBe('')
  })

  it('use actions by the hash of a commit, with the version as a comment', () => {
    const lines = PATHS.flatMap((path) => read(path).split('\n')).filter((line) => /^\s*(- )?uses:/.test(line))
    const pinned = /uses: ([\w-]+\/[\w/-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$/
    expect(lines.filter((line) => !pinned.test(line)).map((line) => line.trim())).toEqual([
      'uses: ./.github/workflows/test.yml',
    ])
    const versions = new Map<string, Set<string>>()
    for (const line of lines) {
      const [, action = '', commit, version] = pinned.exec(line) ?? []
      const repository = action.split('/').slice(0, 2).join('/')
      versions.set(repository, (versions.get(repository) ?? new Set()).add(`${commit} ${version}`))
    }
    expect([...versions].filter(([, different]) => different.size > 1)).toEqual([])
  })

  it('have no permission by default, and each job has those that it needs', () => {
    expect(
      WORKFLOWS.filter(([, { permissions }]) => JSON.stringify(permissions) !== '{}').map(([file]) => file),
    ).toEqual([])
    expect(Object.fromEntries(JOBS.map(([name, { permissions }]) => [name, permissions]))).toEqual({
      'codeql.yml, analyze': { contents: 'read', 'security-events': 'write' },
      'release.yml, test': { contents: 'read' },
      'release.yml, pack': { contents: 'read' },
      'release.yml, stage': { 'id-token': 'write', attestations: 'write' },
      'release.yml, github-release': { contents: 'write' },
      'test.yml, everything': { contents: 'read' },
      'test.yml, matrix': { contents: 'read' },
      'test.yml, runtimes': { contents: 'read' },
    })
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

it('test.yml runs the Nodes and the other runtimes of npm run test:matrix, from the oldest that package.json supports', () => {
  const { matrix, runtimes } = workflow('test.yml').jobs
  const nodes = matrix?.strategy?.matrix['node'] ?? []
  expect(manifest.engines.node).toMatch(`^${nodes[0]} || >=${nodes[1]}.`)
  expect(runtimes?.steps?.at(-1)?.run).toBe('npm run test:matrix -- bun deno')
  const list = [...nodes, 'bun', 'deno'].map((one) => `'${one}'`).join(', ')
  expect(read('test/contract/matrix/matrix.mjs')).toContain(`const ALL = [${list}]\n`)
})

it('npm run test:matrix starts with the oldest Express that package.json supports', () => {
  const [, oldest] = /installed\('express', '([\d.]+)'\)/.exec(read('test/contract/matrix/installed.mjs')) ?? []
  expect(`${manifest.peerDependencies['express']?.split(' || ')[0]}.0`).toBe(`^${oldest}`)
})

describe('release.yml', () => {
  const { jobs } = workflow('release.yml')
  const commandsOf = (job: string) =>
    (jobs[job]?.steps ?? []).map(({ run, uses = '' }) => run ?? uses.replace(/@.*/, '')).join('\n')

  it.each([
    ['pack', ['npm ci', 'npm pack', '.ci/sbom.mjs', 'TEST_TARBALL=', 'actions/upload-artifact']],
    ['stage', ['actions/download-artifact', 'actions/attest', 'npm stage publish']],
    ['github-release', ['actions/download-artifact', 'gh release create']],
  ])('%s does its steps in order', (job, steps) => {
    const places = steps.map((step) => commandsOf(job).indexOf(step))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('tests, packs, stages and describes, in this order', () => {
    expect(jobs).toMatchObject({
      test: { uses: './.github/workflows/test.yml' },
      pack: { needs: 'test' },
      stage: { needs: 'pack' },
      'github-release': { needs: 'stage' },
    })
  })

  it('runs nothing of the repository where it can publish', () => {
    const able = JOBS.filter(([, { permissions }]) => permissions?.['id-token'])
    expect(able.map(([name]) => name)).toEqual(['release.yml, stage'])
    expect(commandsOf('stage')).not.toMatch(/actions\/checkout|npm (ci|run|test)|npx|node /)
    expect(commandsOf('stage').match(/npm install .*/g)).toEqual([
      expect.stringMatching(/^npm install --global --ignore-scripts npm@\d+\.\d+\.\d+$/),
    ])
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
    expect(workflow('release.yml').on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } })
  })
})
