import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPage } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'
import { NO_HOSTS } from '../kit.js'
import { counts } from './count.mjs'

const run = promisify(execFile)
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const env = { PATH: process.env.PATH, NODE_ENV: 'testing' }
const STATES = ['before', 'after']

let folder
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'moved-'))
})
afterAll(() => rm(folder, { recursive: true }))

const copyOf = (app, state) => join(folder, app, state)

/** Copies an app twice, and moves the second copy to this package. */
async function copy(app, source, names) {
  for (const state of STATES)
    for (const name of names) await cp(join(source, name), join(copyOf(app, state), name), { recursive: true })
  await run('git', ['apply', here(`patches/${app}.diff`)], { cwd: copyOf(app, 'after') })
}

describe('express-rest-api-boilerplate', () => {
  beforeAll(() => copy('aichbauer', here('aichbauer'), ['api', 'config', 'test']))

  it.each(STATES)('passes its own tests %s its move to this package', async (state) => {
    const files = ['test/controllers/UserController.test.js', 'test/models/User.test.js']
    const args = ['--require', here('stand-ins.cjs'), '--test', '--test-reporter=tap', ...files]
    const { stdout } = await run(process.execPath, args, { cwd: copyOf('aichbauer', state), env })
    expect(stdout).toMatch(/^# pass 5$/m)
  })

  it('has the same responses after its move, except for the texts about a bad token', async () => {
    const wireOf = async (state) =>
      (await run(process.execPath, [here('wire.cjs')], { cwd: copyOf('aichbauer', state), env })).stdout
        .trim()
        .split('\n')
    const [before, after] = await Promise.all(STATES.map(wireOf))
    expect(after).toHaveLength(18)
    const different = after.filter((line, index) => line !== before[index])
    const err = (message) => JSON.stringify({ err: { name: 'JsonWebTokenError', message } })
    expect(different).toEqual([
      `another scheme: 401 ${err('The access token is not valid.')}`,
      `forged token: 401 ${err('The access token is not valid.')}`,
      `expired token: 401 ${err('The access token expired.')}`,
    ])
  })
})

const PACKAGES = here('../node_modules')
const SECRET = 'a secret for tests, of 32 bytes or more'

/** Apps of npm, whose sources and packages are those of `hosts/package.json`. */
const NPM_APPS = [
  {
    app: 'hagopj13',
    title: 'create-nodejs-express-app',
    files: ['src', 'tests', 'package.json'],
    tests: 113,
    config: { setupFiles: [here('mongo.cjs')], restoreMocks: true, transform: {} },
    env: {
      MONGODB_URL: 'mongodb://127.0.0.1/app',
      JWT_SECRET: 'thisisasamplesecret',
      JWT_ACCESS_SECRET: SECRET,
      JWT_ISSUER: 'http://localhost:3000',
    },
  },
  {
    app: 'ljlm0402',
    title: 'typescript-express-starter/lib/sequelize',
    files: ['src', '.env.test.local'],
    tests: 8,
    config: {
      setupFiles: [here('sequelize.cjs')],
      transform: { '\\.ts$': here('esbuild.cjs') },
      // The paths of its tsconfig.json.
      moduleNameMapper: {
        '^@/(.*)$': '<rootDir>/src/$1',
        '^@(config|databases)$': '<rootDir>/src/$1',
        '^@(controllers|dtos|exceptions|interfaces|middlewares|models|routes|services|utils)/(.*)$':
          '<rootDir>/src/$1/$2',
      },
    },
    env: { TOKEN_SECRET: SECRET, API_URL: 'http://localhost:3000' },
  },
]

/** Copies an app of npm twice, where it finds this package. */
async function copyOfNpm(app, name, files) {
  await copy(app, join(PACKAGES, name), files)
  for (const state of STATES) {
    await mkdir(join(copyOf(app, state), 'node_modules'))
    await symlink(root, join(copyOf(app, state), 'node_modules/express-token-endpoint'))
  }
}

/** Runs a program of Node in a copy, which finds the packages of an app of npm. */
function runInCopy(app, state, withPackagesOf, args, env) {
  const folders = [join(PACKAGES, withPackagesOf, 'node_modules'), PACKAGES, join(root, 'node_modules')]
  return run(process.execPath, args, {
    cwd: copyOf(app, state),
    env: { PATH: process.env.PATH, NODE_ENV: 'test', NODE_PATH: folders.join(delimiter), ...env },
  })
}

describe.skipIf(NO_HOSTS).each(NPM_APPS)('$title of npm', ({ app, title, files, tests, config, env }) => {
  beforeAll(() => copyOfNpm(app, title, files))

  it.each(STATES)('passes its own tests %s its move to this package', { timeout: 120_000 }, async (state) => {
    const jest = [join(PACKAGES, 'jest/bin/jest.js'), '--config', JSON.stringify(config)]
    const args = [...jest, '--json', '--runInBand', '--silent', '--forceExit']
    const { stdout } = await runInCopy(app, state, 'create-nodejs-express-app', args, env)
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numTotalTests: tests, numPassedTests: tests })
  })
})

const SKELETON = 'node-express-mongodb-jwt-rest-api-skeleton'
describe.skipIf(NO_HOSTS)(`${SKELETON} of npm`, () => {
  const files = ['app', 'config', 'data', 'locales', 'public', 'test', 'views', 'server.js', '.env.example']
  beforeAll(async () => {
    await copyOfNpm('davellanedam', SKELETON, files)
    for (const state of STATES)
      await cp(join(copyOf('davellanedam', state), '.env.example'), join(copyOf('davellanedam', state), '.env'))
  })

  it.each(STATES)('passes its own tests %s its move to this package', { timeout: 120_000 }, async (state) => {
    const preload = ['mongo.cjs', 'mocha.cjs'].flatMap((file) => ['--require', here(file)])
    const suites = ['auth', 'cities', 'profile', 'users'].map((name) => `test/${name}.js`)
    const args = [...preload, '--test', '--test-force-exit', '--test-reporter=tap', ...suites]
    const env = { PORT: '0', TOKEN_SECRET: SECRET, API_URL: 'http://localhost:3000' }
    const { stdout } = await runInCopy('davellanedam', state, SKELETON, args, env)
    expect(stdout).toMatch(/^# pass 53$/m)
  })
})

it('has the numbers of lines that the README of this folder prints', () => {
  const { text } = readPage('test/hosts/moved/README.md')
  const rows = counts()
  const sum = (state) => rows.reduce((total, row) => total + row[state], 0)
  for (const { before, after } of [...rows, { before: sum('before'), after: sum('after') }])
    expect(text).toContain(`| ${before} → ${after} |`)
})
