import { execFile } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linksIn, readPage, shippedPages, shippedPictures, targetOf } from '../../support/documents/pages.js'
import { filesBelow } from '../../support/documents/repository.js'
import { ONLY_EXPRESS } from '../../support/runner/only.js'
import { differences, expectWorks, start } from './consumer.js'
import {
  install,
  isModule,
  type Manifest,
  moduleNames,
  modulesOfEntries,
  npm,
  type Packed,
  pack,
  tempFolder,
} from './pack.js'
import { WIRE_ENV, wireTests } from './wire.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const manifest: Manifest = JSON.parse(await readFile(here('../../../package.json'), 'utf8'))
/** Runs a program to its end, and gives all that it says. */
const output = (cwd: string, ...args: string[]): Promise<string> =>
  promisify(execFile)(process.execPath, args, { cwd }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => stdout + stderr,
  )

/** The compiler of this project, and the newer one that is not written in JavaScript and that new projects get. */
const TSC = here('../../../node_modules/typescript/bin/tsc')
const NEWER = '7.0.2'

let packed: Packed
let temporary: Awaited<ReturnType<typeof tempFolder>>
beforeAll(async () => {
  temporary = await tempFolder('package')
  packed = await pack(temporary.folder)
})
afterAll(() => temporary.remove())

it('the build prints nothing', () => {
  expect(packed.printed).toBe('')
})

describe('the tarball', () => {
  it('holds what is compiled, the documents and the starter, and nothing else', () => {
    const others = [...packed.files.keys()].filter((file) => !(file.startsWith('dist/') && isModule(file)))
    expect(others.sort()).toEqual(
      [...shippedPages(), ...shippedPictures(), ...filesBelow('example-app/starter'), 'LICENSE', 'package.json'].sort(),
    )
  })

  it('holds each page and picture that its documents link to, unless the link is an address', () => {
    const documents = [...packed.files].filter(([file]) => file.endsWith('.md'))
    const relative = documents.flatMap(([page, text]) =>
      linksIn(text.replace(/^ *```[\s\S]*?^ *```$/gm, ''))
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => ({ page, link, file: targetOf(page, link).file })),
    )
    expect(relative.length).toBeGreaterThan(100)
    expect(relative.filter(({ file }) => !packed.files.has(file))).toEqual([])
  })

  it('holds every module that an entry needs, with its types, and no other', () => {
    const shipped = [...packed.files.keys()].filter((file) => file.startsWith('dist/'))
    expect(shipped.length).toBeGreaterThan(10)
    expect(shipped.sort()).toEqual([...modulesOfEntries(packed)].sort())
  })

  it('points to no source maps, as it holds none', () => {
    expect(
      [...packed.files].filter(([, text]) => /^\/\/# sourceMappingURL=/m.test(text)).map(([file]) => file),
    ).toEqual([])
  })

  it('is about as large as its page says', () => {
    const page = packed.files.get('docs/reference/compatibility.md') ?? ''
    const said = /(\d+) kB compressed and (\d+) kB unpacked/.exec(page)?.slice(1).map(Number) ?? []
    const ratios = [packed.size, packed.unpackedSize].map((bytes, i) => bytes / 1000 / (said[i] ?? 0))
    expect(ratios.filter((ratio) => !(ratio > 0.83 && ratio < 1.25))).toEqual([])
    expect(packed.size).toBeLessThan(400_000)
    expect(page).toContain(`has ${Object.keys(manifest.dependencies).length} dependencies`)
  })

  it('has nothing that publint would change', async () => {
    const { buffer } = new Uint8Array(await readFile(packed.tarball))
    const { messages } = await publint({ pack: { tarball: buffer }, strict: true })
    expect(messages).toEqual([])
  })

  it.each(moduleNames(manifest))('%s: are-the-types-wrong finds nothing', async (name) => {
    const tarball = createPackageFromTarballData(new Uint8Array(await readFile(packed.tarball)))
    const entrypoint = name.replace('express-token-endpoint', '.')
    const result = await checkPackage(tarball, { entrypoints: [entrypoint] })
    expect(result.types && result.problems).toEqual([])
  })
})

/** The lowest versions that a range allows: '^4.21 || ^5' → 4.21.0, 5.0.0. */
const lowest = (ranges = '') =>
  ranges.split(' || ').map((range) => {
    const [major, minor = 0, patch = 0] = range.replace('^', '').split('.')
    return `${major}.${minor}.${patch}`
  })
const majorOf = (version: string) => version.split('.')[0]

const EXPRESS = ONLY_EXPRESS ? [ONLY_EXPRESS.version] : lowest(manifest.peerDependencies['express'])
/** Types of the lowest Node with Express 4, and of the highest with Express 5. They do not export the same names. */
const nodeTypesFor = async (express: string) =>
  majorOf(express) === '4'
    ? JSON.parse(await readFile(here('../../../node_modules/@types/node/package.json'), 'utf8')).version
    : '26'
/** The range on the page. That of package.json must block no app that uses no types. */
const [, TYPES] = /`@types\/express` for [^`]*`([^`]+)`/.exec(readPage('docs/reference/compatibility.md').prose) ?? []
const typesFor = (express: string) => lowest(TYPES).find((types) => majorOf(types) === majorOf(express))

describe.each(EXPRESS)('a project with Express %s that installed the tarball', (express) => {
  let project: Awaited<ReturnType<typeof tempFolder>>
  beforeAll(async () => {
    project = await tempFolder('consumer')
    await writeFile(join(project.folder, 'package.json'), '{ "private": true }')
    const types = [`@types/express@${typesFor(express)}`, `@types/node@${await nodeTypesFor(express)}`]
    const newer = `typescript@${NEWER}`
    await install(project.folder, [packed.tarball, `express@${express}`, newer, ...types])
    await cp(here('consumers'), project.folder, { recursive: true })
  }, 180_000)
  afterAll(() => project.remove())

  it.each(['esm/main.mjs', 'commonjs/main.cjs'])('%s: gets a token, and through its guard', async (program) => {
    await expectWorks(join(project.folder, program))
  })

  // `npm run test:matrix` runs these tests on the other runtimes.
  if (!ONLY_EXPRESS && majorOf(express) === '5') {
    describe('wire/main.mjs', () => {
      wireTests(() => start(join(project.folder, 'wire/main.mjs'), { env: WIRE_ENV }))
    })
  }

  it.each([
    ['nodenext', ['main.mjs', 'main.cjs']],
    ['bundler', []],
    // Against a DOM, without the types of Node.
    ['browser', []],
  ])('%s: compiles, the types of all libraries checked too, and works', async (name, programs) => {
    const folder = join(project.folder, name)
    const newer = join(project.folder, 'node_modules/typescript/bin/tsc')
    for (const tsc of [TSC, newer]) expect(await output(folder, tsc)).toBe('')
    for (const program of programs) await expectWorks(join(folder, program))
  })

  it.each(Object.keys(manifest.bin ?? {}))('%s: is a command that npx finds, and tells its help', async (name) => {
    expect(await npm(project.folder, 'exec', '--no', '--', name, '--help')).toContain(name)
  })

  it.each(moduleNames(manifest))('%s: is one copy in a process, by import and by require', async (name) => {
    expect(await output(project.folder, '--input-type=commonjs', '-e', differences([name]))).toBe('[[]]\n')
  })
})
