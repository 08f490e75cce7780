import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replaceAll('\\', '/')
const SRC = join(ROOT, 'src').replaceAll('\\', '/')
const DIST = join(ROOT, 'dist/declarations').replaceAll('\\', '/')

/** Folder of the reports, which git keeps. */
export const REPORTS = fileURLToPath(new URL('.', import.meta.url))

/** Returns the reports on the public types as they are in `src`: by file name, one for each entry of package.json that has types. */
export function apiReports() {
  const entries = readEntries()
  const program = declarationProgram(entries.map(({ file }) => file))
  const checker = program.getTypeChecker()
  const symbols = entries.map(({ file }) => exportsOf(program, checker, file))
  const exported = new Set(symbols.flatMap((list) => list.map((symbol) => target(checker, symbol))))
  return new Map(
    entries.map(({ name, file }, index) => {
      const report = reportOn({ name, symbols: symbols[index], exported, entry: program.getSourceFile(file), program })
      return [`${basename(file, '.d.ts')}.api.md`, report]
    }),
  )
}

/** Returns the entries as hosts import them, with the paths of their declarations. */
function readEntries() {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return Object.entries(exports)
    .filter(([, { types }]) => types)
    .map(([subpath, { types }]) => ({ name: name + subpath.slice(1), file: types.replace('./dist', DIST) }))
}

/** Compiles `src` to declarations in memory, as `npm run build` does, and returns a program of the declarations. */
function declarationProgram(entries) {
  const config = `${SRC}/tsconfig.json`
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, SRC)
  const sources = entries.map((entry) => entry.replace(DIST, SRC).replace(/\.d\.ts$/, '.ts'))
  for (const source of sources) {
    if (!ts.sys.fileExists(source)) throw new Error(`${source} does not exist. package.json names an entry of it.`)
  }

  const emitted = new Map()
  const compiler = ts.createProgram(sources, { ...options, emitDeclarationOnly: true })
  compiler.emit(undefined, (path, text) => emitted.set(path, text))

  const host = ts.createCompilerHost(options)
  const { directoryExists, fileExists, getSourceFile } = host
  // Files that an earlier build left in `dist` do not count.
  host.directoryExists = (path) => path.startsWith(DIST) || directoryExists(path)
  host.fileExists = (path) => (path.startsWith(`${DIST}/`) ? emitted.has(path) : fileExists(path))
  host.getSourceFile = (path, version, ...rest) =>
    emitted.has(path)
      ? ts.createSourceFile(path, emitted.get(path), version, true)
      : getSourceFile(path, version, ...rest)
  return ts.createProgram(entries, { ...options, noEmit: true }, host)
}

function exportsOf(program, checker, file) {
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(file))
  return symbol ? checker.getExportsOfModule(symbol).sort(byName) : []
}

const byName = (a, b) => (a.name < b.name ? -1 : 1)

/** Returns the symbol that an export or an import stands for. */
function target(checker, symbol) {
  if (!(symbol.flags & ts.SymbolFlags.Alias)) return symbol
  const found = checker.getAliasedSymbol(symbol)
  if (!found.declarations) throw new Error(`${symbol.name} is exported or imported, but its declaration was not found`)
  return found
}

/** Returns an entry's report: its exports, the types that they need and no entry exports, and additions to other modules. */
function reportOn({ name, symbols, exported, entry, program }) {
  const checker = program.getTypeChecker()
  const print = (node) => printed(node, checker)
  const additions = filesOf(program, entry).flatMap((file) => file.statements.filter(isAddition))

  const used = new Set()
  const visit = (node) => {
    if (isComputed(node)) return
    const symbol = symbolNamedBy(node, checker)
    const found = symbol && target(checker, symbol)
    if (found && !exported.has(found) && !used.has(found) && declarationsOf(found).length > 0) {
      used.add(found)
      declarationsOf(found).forEach(visit)
    }
    ts.forEachChild(node, visit)
  }
  for (const symbol of symbols) declarationsOf(target(checker, symbol)).forEach(visit)
  additions.forEach(visit)

  const textOf = (symbol) => declarationsOf(symbol).map(print).join('\n')
  const exportText = (symbol) => {
    const found = target(checker, symbol)
    return textOf(found) + (found.name === symbol.name ? '' : `\nexport { ${found.name} as ${symbol.name} }`)
  }
  const sections = [
    section('Exports', symbols.map(exportText)),
    section('Used by them, exported by no entry', [...used].sort(byName).map(textOf)),
    section('Added to other modules', additions.map(print).sort()),
  ]
  return [`# ${name}`, '`npm run api:report` writes this file.', ...sections.flat()].join('\n\n').concat('\n')
}

const section = (heading, texts) => (texts.length > 0 ? [`## ${heading}`, `\`\`\`ts\n${texts.join('\n')}\n\`\`\``] : [])

/** Returns a symbol's declarations in this package, without type parameters and additions to other modules. */
function declarationsOf(symbol) {
  if (symbol.flags & ts.SymbolFlags.TypeParameter) return []
  const own = (symbol.declarations ?? []).filter(
    (node) => node.getSourceFile().fileName.startsWith(`${DIST}/`) && !isAdded(node),
  )
  // `x: T` is a part of the statement `const x: T`.
  return own.map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
}

function symbolNamedBy(node, checker) {
  const name = ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isExpressionWithTypeArguments(node)
      ? node.expression
      : ts.isImportTypeNode(node)
        ? node.qualifier
        : ts.isTypeQueryNode(node)
          ? node.exprName
          : undefined
  return name && checker.getSymbolAtLocation(name)
}

/** `type Code = keyof typeof TABLE`: hosts see the keys and not the table, so the report has the type that it comes to. */
const isComputed = (node) => ts.isTypeAliasDeclaration(node) && !node.typeParameters && asksForTypeOf(node.type)

const asksForTypeOf = (node) => ts.isTypeQueryNode(node) || ts.forEachChild(node, asksForTypeOf) === true

const printer = ts.createPrinter({ removeComments: true })
const FLAGS = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias

/** Returns a declaration without comments and without the paths of this package's files, in one line if it fits. */
function printed(node, checker) {
  if (isComputed(node)) {
    const type = checker.getTypeAtLocation(node)
    const members = (type.isUnion() ? type.types : [type]).map((member) => checker.typeToString(member, node, FLAGS))
    return `type ${node.name.text} = ${members.sort().join(' | ')};`
  }
  const text = printer
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/^export (declare )?/, '')
    .replaceAll(/import\("\.[^"]*"\)\./g, '')
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
  const line = text.replaceAll(/\n */g, ' ')
  return line.length <= 120 ? line : text
}

/** `declare global` and `declare module '…'`. */
const isAddition = (node) =>
  ts.isModuleDeclaration(node) && (ts.isStringLiteral(node.name) || node.name.text === 'global')

const isAdded = (node) => node !== undefined && (isAddition(node) || isAdded(node.parent))

/** Returns the files of this package that an entry imports, directly or not, and the entry itself. */
function filesOf(program, entry, seen = new Set([entry])) {
  for (const { fileName } of ts.preProcessFile(entry.text).importedFiles) {
    if (!fileName.startsWith('.')) continue
    const path = join(dirname(entry.fileName), fileName).replaceAll('\\', '/').replace(/\.js$/, '.d.ts')
    const file = program.getSourceFile(path)
    if (file && !seen.has(file)) filesOf(program, file, seen.add(file))
  }
  return [...seen]
}

// `npm run api:report`: accepts the public types of `src`. Commit what it writes.
if (process.argv[1] === import.meta.filename) {
  const reports = apiReports()
  for (const [file, text] of reports) writeFileSync(join(REPORTS, file), text)
  for (const file of readdirSync(REPORTS)) {
    if (file.endsWith('.api.md') && !reports.has(file)) rmSync(join(REPORTS, file))
  }
}
