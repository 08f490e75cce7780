import ts from 'typescript'
import { check } from '../../../src/cli/check/check.js'
import { ROWS as CHECK_ROWS } from '../../../src/cli/check/rows.js'
import { EXIT } from '../../../src/cli/command-error.js'
import { hash } from '../../../src/cli/hash/hash.js'
import { keygen } from '../../../src/cli/keygen/keygen.js'
import { REFUSALS } from '../../../src/errors/codes.js'
import { FEATURES } from '../../../src/features/features.js'
import { ENTRIES } from '../../support/documents/repository.js'
import { DIST } from '../api/api-reports.mjs'

/** A tree of names. A name that is gone, or that needs more of its user, is breaking. */
export interface Names {
  [name: string]: Names | string
}

/** Returns the names of members and the values of texts that a type has, to a depth of two. */
function namesOf(type: ts.Type, checker: ts.TypeChecker, depth = 0): Names {
  const names: Names = {}
  const parts = type.isUnion() ? type.types : [type]
  for (const part of parts) {
    if (part.isStringLiteral()) names[`'${part.value}'`] = {}
    if (!(part.flags & ts.TypeFlags.Object) || depth > 1 || checker.isArrayType(part)) continue
    for (const member of checker.getPropertiesOfType(part)) {
      // Methods of built-in objects, such as an Error or a Date, are not ours.
      const isOurs = member.declarations?.some((one) =>
        one.getSourceFile().fileName.startsWith(DIST.replaceAll('\\', '/')),
      )
      if (!isOurs || member.name.startsWith('__')) continue
      const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0
      const inner = namesOf(checker.getNonNullableType(checker.getTypeOfSymbol(member)), checker, depth + 1)
      names[member.name + (isOptional ? '?' : '')] = inner
    }
  }
  return names
}

function typesOf(entry: string, program: ts.Program): Names {
  const checker = program.getTypeChecker()
  const aliased = (one: ts.Symbol) => (one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one)
  const file = program.getSourceFile(`${DIST}${entry}.d.cts`)
  const module = file && checker.getSymbolAtLocation(file)
  // A deprecated name only throws an error, so 1.0 does not promise it.
  const isPromised = (one: ts.Symbol) =>
    !aliased(one)
      .getJsDocTags(checker)
      .some(({ name }) => name === 'deprecated')
  const exported = (module ? checker.getExportsOfModule(module) : []).filter(isPromised).map((one) => {
    const symbol = aliased(one)
    const isType = (symbol.flags & ts.SymbolFlags.Type) !== 0
    const type = isType ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol)
    return [one.name, namesOf(type, checker)] as const
  })
  return Object.fromEntries(exported)
}

/** Returns the exported names and their members, from the compiled declarations. */
export function exportedNames(): Names {
  const files = ENTRIES.map((entry) => `${DIST}${entry}.d.cts`)
  const program = ts.createProgram(files, { module: ts.ModuleKind.NodeNext, strict: true, types: [] })
  return Object.fromEntries(ENTRIES.map((entry) => [entry, typesOf(entry, program)]))
}

/** Returns the codes with their statuses, the endpoints with theirs, and the command's options, rows and exit statuses. */
export function namesOfRequests(): Names {
  const codes = Object.entries(REFUSALS).map(([code, { status }]) => [code, { [status]: {} }])
  const endpoints = Object.values(FEATURES).flatMap(({ at, endpoints }) =>
    endpoints.map(({ id, method, path, responses }) => [
      `${method} {${at}}${path}`,
      { [id]: {}, ...Object.fromEntries(Object.keys(responses).map((status) => [status, {}])) },
    ]),
  )
  const options = [check, hash, keygen].map((one) => [
    one.name,
    Object.fromEntries(Object.keys(one.options).map((name) => [`--${name}`, {}])),
  ])
  return {
    codes: Object.fromEntries(codes),
    endpoints: Object.fromEntries(endpoints),
    command: Object.fromEntries(options),
    rows: Object.fromEntries(CHECK_ROWS.map(({ id }) => [id, {}])),
    exits: Object.fromEntries(Object.entries(EXIT).map(([name, status]) => [name, String(status)])),
  }
}

/** Returns what the frozen names have and these names lack, and members that an object has to have only now. */
export function breaks(frozen: Names | string, now: Names | string | undefined, path = ''): string[] {
  if (typeof frozen === 'string' || typeof now === 'string')
    return frozen === now ? [] : [`${path}: "${frozen}" is now "${String(now)}"`]
  if (now === undefined) return [`${path} is gone`]
  return Object.entries(frozen).flatMap(([name, inner]) => {
    const at = path ? `${path} › ${name}` : name
    const plain = name.replace(/\?$/, '')
    if (!(name in now) && plain in now) return [`${at} is no longer optional`]
    // An option that may be omitted breaks nothing, but a member that the app reads does.
    if (!(name in now) && `${name}?` in now)
      return path.includes('Options') ? breaks(inner, now[`${name}?`], at) : [`${at} may be absent now`]
    return breaks(inner, now[name], at)
  })
}
