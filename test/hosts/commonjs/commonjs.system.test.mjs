import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { install, pack, tempFolder } from '../../contract/packed/pack.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

let temporary
let packed
beforeAll(async () => {
  temporary = await tempFolder('commonjs')
  packed = await pack(temporary.folder)
}, 180_000)
afterAll(() => temporary.remove())

/** Creates an app in its own folder, with the packages and without any configuration. */
async function createApp(name, packages) {
  const folder = join(temporary.folder, name)
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  // One command, because npm refuses peers that do not fit together only then.
  await install(folder, [packed.tarball, ...packages])
  await cp(here('login.cjs'), join(folder, 'login.test.js'))
  return folder
}

/** Runs a program of a package in the app. */
async function run(folder, program, ...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [join('node_modules', program), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
  })
  return stdout
}

const jest = async (folder, ...args) => JSON.parse(await run(folder, 'jest/bin/jest.js', '--json', ...args))

describe('an app with require, and with an older Passport that it uses for something else', () => {
  let folder
  beforeAll(async () => {
    folder = await createApp('new', ['express@5', 'passport@0.4.1', 'jest@30.2.0', 'mocha@11.7.5'])
  }, 180_000)

  it('runs its tests with Jest 30', async () => {
    expect(await jest(folder)).toMatchObject({ success: true, numPassedTests: 4 })
  })

  it('runs its tests with Mocha', async () => {
    expect(await run(folder, 'mocha/bin/mocha.js', 'login.test.js')).toContain('4 passing')
  })
})

describe('an older app, with TypeScript 5.2 and its moduleResolution node', () => {
  const COMPILER = { module: 'commonjs', moduleResolution: 'node', target: 'es2021', strict: true, skipLibCheck: false }
  const PACKAGES = ['express@4', 'typescript@5.2.2', 'ts-jest@29.1.5', 'jest@29.7.0', 'kysely@0.27.0']
  const TYPES = ['@types/express@4.17.21', '@types/node@18', '@types/jest@29']
  let folder
  beforeAll(async () => {
    folder = await createApp('old', [...PACKAGES, ...TYPES])
    await cp(here('login.mts'), join(folder, 'login.test.ts'))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...COMPILER, noEmit: true } }))
  }, 180_000)

  it('runs its tests with Jest 29', async () => {
    expect(await jest(folder, 'login.test.js')).toMatchObject({ success: true, numPassedTests: 4 })
  })

  it('runs its tests with ts-jest, which reports wrong types', async () => {
    expect(await jest(folder, '--preset', 'ts-jest', 'login.test.ts')).toMatchObject({
      success: true,
      numPassedTests: 1,
    })
  })

  it('compiles, the types of all libraries checked too', async () => {
    expect(await run(folder, 'typescript/bin/tsc')).toBe('')
  })
})
