import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { CONTEXTS } from '../../../support/documents/contexts.js'
import { moduleOf } from '../../../support/documents/examples.js'
import { examples, readPage } from '../../../support/documents/pages.js'
import type { Packed } from '../../packed/pack.js'

const MODULES = fileURLToPath(new URL('../../../../node_modules/', import.meta.url))
const HOST_MODULES = fileURLToPath(new URL('../../../hosts/node_modules/', import.meta.url))

/** The packages of every reader, because the README tells to install them. */
const BASE = ['express', '@types/express', '@types/node', 'typescript']

/** Returns the packages that a page tells its reader to install. */
export function packagesOf(page: string): string[] {
  const commands = [...readPage(page).text.matchAll(/npm (?:install|i) ([^\n`&|#]+)/g)]
  const words = commands.flatMap(([, names = '']) => names.trim().split(/\s+/))
  const named = words.filter((word) => /^(@[\w.-]+\/)?[\w.-]+(@.+)?$/.test(word) && !word.startsWith('-'))
  return [...new Set([...BASE, ...named.map((name) => name.replace(/(?<=.)@.*/, ''))])].sort()
}

/** Returns whether a page names packages that only `test/hosts` has. They are not installed by default. */
export const needsHosts = (page: string) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(HOST_MODULES, '../package.json'), 'utf8'))
  return packagesOf(page).some((name) => name in dependencies || name in devDependencies)
}

/** Returns the pages that have examples. */
export const pagesWithExamples = () => [...new Set(examples().map(({ page }) => page))]

/** Makes the project of a page's reader: the packages that the page names, and a file for each block. Returns the files. */
export async function readersProject(folder: string, page: string, packed: Packed): Promise<string[]> {
  for (const name of packagesOf(page).filter((name) => name !== packed.manifest.name)) await link(folder, name)
  await unpack(folder, packed)
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const files: string[] = []
  for (const block of examples().filter((one) => one.page === page)) {
    const ownName = /^\/\/ ([\w./-]+\.[cm]?[jt]s)\n/.exec(block.code)?.[1]
    const file = join(folder, ownName ?? `${block.name}.${block.language === 'ts' ? 'ts' : 'mjs'}`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, ownName ? block.code : moduleOf(block, CONTEXTS[block.name ?? ''] ?? ''))
    files.push(file)
  }
  return [...new Set(files)]
}

async function link(folder: string, name: string): Promise<void> {
  const target = join(folder, 'node_modules', name)
  await mkdir(dirname(target), { recursive: true })
  const modules = [MODULES, HOST_MODULES].find((folder) => ts.sys.directoryExists(join(folder, name)))
  if (!modules) throw new Error(`${name}: a page needs it as a devDependency, or as a dependency of test/hosts`)
  await symlink(join(modules, name), target, 'junction')
}

async function unpack(folder: string, { manifest, files }: Packed): Promise<void> {
  const to = join(folder, 'node_modules', manifest.name)
  for (const [path, text] of files) {
    await mkdir(dirname(join(to, path)), { recursive: true })
    await writeFile(join(to, path), text)
  }
  // The package's own dependencies are below it, so that a block cannot import them.
  for (const name of Object.keys(manifest.dependencies)) await link(to, name)
}

const sources = new Map<string, ts.SourceFile | undefined>()

/** Returns whether a file shows code of another package, before a migration. */
const isBefore = (file: string) => basename(file).startsWith('before-')

/** Compiles the files of a page. Code of another package has its own program, because some packages declare another `req.auth`. */
export function problemsOf(files: readonly string[]): string[] {
  const ours = files.filter((file) => !isBefore(file))
  const programs = [...files.filter(isBefore).map((file) => [file]), ...(ours.length > 0 ? [ours] : [])]
  return programs.flatMap((program) => problemsIn(program, !program.some(isBefore)))
}

/** Compiles one program as a host does that skips the check of its libraries' types. */
function problemsIn(files: readonly string[], strict: boolean): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    allowJs: true,
    checkJs: strict,
    strict,
    noUncheckedIndexedAccess: strict,
    exactOptionalPropertyTypes: strict,
    noImplicitReturns: strict,
    skipLibCheck: true,
    noEmit: true,
  }
  const [folder = ''] = files.map(dirname)
  const host = ts.createCompilerHost(options)
  host.getCurrentDirectory = () => folder
  const { getSourceFile } = host
  host.getSourceFile = (name, version, ...rest) => {
    if (!name.startsWith(MODULES)) return getSourceFile(name, version, ...rest)
    if (!sources.has(name)) sources.set(name, getSourceFile(name, version, ...rest))
    return sources.get(name)
  }
  const program = ts.createProgram(files, options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
}
