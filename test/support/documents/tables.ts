import { posix } from 'node:path'
import ts from 'typescript'
import { type AuthErrorCode, REFUSALS } from '../../../src/errors/codes.js'
import { endpointsAt, FEATURES } from '../../../src/features/features.js'
import { codesOf, successesOf } from '../../../src/http/declaration.js'
import { methodsOf, pathsBelow } from '../../../src/http/endpoint.js'
import { strictest } from './compiler.js'
import { type Page, pagesBelow, readPage, shippedPages, targetOf } from './pages.js'
import { ENTRIES, root } from './repository.js'

/*
 * The tables of the pages that are made of comments and declarations in `src`. A comment in a page names what its table is of: an interface,
 * a union of texts, or the endpoints.
 *
 *     <!-- table: TokenRouterOptions -->
 *     <!-- table: AuthOptions, others as TokenIssuerOptions TokenRouterOptions -->
 *     <!-- table: LoginRefusal -->
 *     <!-- table: endpoints -->
 *
 * The first paragraph of a member's comment is its row, and the other paragraphs are only for editors. The sentence "Default: …." in it is
 * the column of the default. A link of a comment is a URL of the repository, which leads to the page from an editor too. The page has the
 * head of the table, whose columns `default` and `status` have these values. A union of events has a row for each event, whose column `members`
 * names its own, or with the column `member` a row for each member of its events. A member with the tag `@hidden` has no row.
 */

const MARK = /^<!-- table: (\w+)(?:, others as ([\w ]+))? -->\n((?:\|.*\n){2})?(?:\|.*\n)*/gm

/** The head of a table that a page does not have yet. */
const HEAD = '| option | default | meaning |\n|---|---|---|\n'

const program = ts.createProgram(
  ENTRIES.map((name) => `${root}src/${name}.ts`),
  strictest,
)
const checker = program.getTypeChecker()

const isNamedType = (node: ts.Node): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)

/** The interfaces and types of `src`, by their names. */
const declared = new Map<string, ts.Symbol>()
for (const file of program.getSourceFiles()) {
  if (!file.fileName.startsWith(`${root}src/`)) continue
  for (const statement of file.statements.filter(isNamedType)) {
    const symbol = checker.getSymbolAtLocation(statement.name)
    if (symbol) declared.set(symbol.name, symbol)
  }
}

function find(name: string): ts.Symbol {
  const symbol = declared.get(name)
  if (!symbol) throw new Error(`src has no "${name}", of which a page has a table`)
  return symbol
}

/** Returns the members of an interface or a type, with those that it inherits. */
const membersOf = (name: string) =>
  checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(find(name))).filter((member) => !isHidden(member))

/** Returns whether a member is in the type only so that a wrong one does not compile. */
const isHidden = (member: ts.Symbol) => member.getJsDocTags().some(({ name }) => name === 'hidden')

/** Returns the declaration of a member: the same for a member that two types inherit. */
const declarationOf = (member: ts.Symbol) => member.declarations?.[0]

/** A member of an interface or of a union: its name, the first paragraph of its comment in one line, and whether it may be absent. */
interface Described {
  name: string
  text: string
  isOptional: boolean
  /** The members of an event that not all events have. */
  members?: readonly Described[]
}

function described(name: string, comment: string, isOptional = false): Described {
  const [first = ''] = comment.split(/\n\s*\n/)
  if (first === '') throw new Error(`"${name}" has no comment`)
  return { name, text: first.replace(/\s+/g, ' ').replace(/\{@link (\w+)\}/g, '`$1`'), isOptional }
}

const describedMember = (member: ts.Symbol): Described => {
  const comment = ts.displayPartsToString(member.getDocumentationComment(checker))
  return described(member.name, comment, (member.flags & ts.SymbolFlags.Optional) !== 0)
}

/** Returns an event by the text of its `type`, with the comment of its interface and its members. */
function describedEvent(reference: ts.TypeReferenceNode): Described {
  const event = checker.getTypeAtLocation(reference)
  const type = event.getProperty('type')
  const name = type && checker.getTypeOfSymbol(type)
  if (!name?.isStringLiteral()) throw new Error(`"${reference.getText()}" has no type, like 'token.issued'`)
  const common = new Set(membersOf('EventBase').map((member) => member.name))
  const own = event.getProperties().filter((member) => !common.has(member.name))
  return { ...describedMember(event.symbol), name: name.value, members: own.map(describedMember) }
}

/** Returns the texts or the events of a union with their comments. */
function valuesOf(union: ts.TypeNode): Described[] {
  // `keyof typeof OBJECT`: the comments are those of the members of the object.
  if (ts.isTypeOperatorNode(union) && ts.isTypeQueryNode(union.type)) {
    return checker.getPropertiesOfType(checker.getTypeAtLocation(union.type.exprName)).map(describedMember)
  }
  if (!ts.isUnionTypeNode(union)) throw new Error(`"${union.getText()}" is not a union`)
  return union.types.map((value, index) => {
    if (ts.isTypeReferenceNode(value)) return describedEvent(value)
    const before = union.getSourceFile().text.slice(union.types[index - 1]?.end ?? union.pos, value.getStart())
    const [, comment = ''] = /\/\*\*([\s\S]*?)\*\//.exec(before) ?? []
    return described(value.getText().replaceAll("'", ''), comment.replace(/^\s*\* ?/gm, '').trim())
  })
}

/** Returns each member of some events once, because a member means the same in all of them. */
function membersOfEvents(events: readonly Described[]): Described[] {
  const members = new Map<string, Described>()
  for (const member of events.flatMap((event) => event.members ?? [])) {
    const known = members.get(member.name)
    if (known && known.text !== member.text) throw new Error(`Two events describe "${member.name}" differently`)
    members.set(member.name, { ...member, isOptional: false })
  }
  return [...members.values()]
}

/** Returns the name of a member, with a question mark where it may be absent. */
const nameOf = ({ name, isOptional }: Described) => `\`${name}${isOptional ? '?' : ''}\``

/** Returns a text as a cell of a table, whose links are relative to the page where the package has both. */
const cellOf = (text: string, page: string) =>
  text.replace(/(?<!\\)\|/g, '\\|').replace(/\]\((https:[^)]+)\)/g, (link, url: string) => {
    const { file, anchor } = targetOf(page, url)
    if (!shippedPages().includes(file)) return link
    const path = file === page ? '' : posix.relative(posix.dirname(page), file)
    return `](${path}${anchor === undefined ? '' : `#${anchor}`})`
  })

const DEFAULT = /(?:^| )Default: ((?:`[^`]*`|[^`])*?)\.(?= |$)/

/** Returns the default that the comment of an option names, and the other sentences. */
function withDefault({ name, text, isOptional }: Described) {
  const [sentence = '', value = isOptional ? undefined : 'required'] = DEFAULT.exec(text) ?? []
  if (value === undefined) throw new Error(`The comment of "${name}" has no sentence "Default: …."`)
  return { value, text: text.replace(sentence, '').trim() }
}

/** The columns whose cells are sentences. A cell of another column is a noun phrase, without a period unless a sentence follows. */
const OF_SENTENCES = ['cause and fix', 'what happened']

/** Returns the row of a member or a value, for the columns of a table. */
function rowOf(one: Described, columns: readonly string[], page: string): string[] {
  const { name } = one
  const isSentence = columns.some((column) => OF_SENTENCES.includes(column))
  const description = (text: string) => cellOf(isSentence || /\.\s/.test(text) ? text : text.replace(/\.$/, ''), page)
  if (columns.includes('default')) {
    const { value, text } = withDefault(one)
    return [`\`${name}\``, cellOf(value, page), description(text)]
  }
  const status = columns.includes('status') ? [`\`${REFUSALS[name as AuthErrorCode].status}\``] : []
  const members = columns.includes('members') ? [(one.members ?? []).map(nameOf).join(', ')] : []
  return [nameOf(one), ...status, ...members, description(one.text)]
}

/** The marks of all pages. */
const MARKED = pagesBelow('docs').flatMap((path) => {
  const page = readPage(path)
  return [...page.text.matchAll(MARK)].map(([, name = ''], index) => ({
    page,
    name,
    heading: headingBefore(page, index),
  }))
})

/** Returns the heading above the table with a number of a page. */
function headingBefore({ text, headings }: Page, number: number) {
  const above = text
    .split(/^<!-- table: /m)
    .slice(0, number + 1)
    .join('')
  return headings.findLast(({ level, text }) => above.includes(`${'#'.repeat(level)} ${text}\n`))
}

/** Returns the row of the members that are described in the table of another type. */
function seeOther(name: string, members: readonly ts.Symbol[], page: string): string[] {
  const other = MARKED.find((mark) => mark.name === name)
  if (!other?.heading) throw new Error(`No page has a table of ${name}`)
  const title = /^`(?:new )?([\w.]+)/.exec(other.heading.text)?.[1]
  const path = other.page.path === page ? '' : posix.relative(posix.dirname(page), other.page.path)
  const link = `[${title ? `\`${title}\`` : other.heading.text}](${path}#${other.heading.anchor})`
  return [members.map((member) => `\`${member.name}\``).join(', '), '–', `See ${link}`]
}

/** Returns the rows of an interface. Those that another table describes come last. */
function rowsOfMembers(name: string, others: readonly string[], columns: readonly string[], page: string): string[][] {
  const places = others.map((other) => ({ other, members: membersOf(other) }))
  const placeOf = (member: ts.Symbol) =>
    places.find(({ members }) => members.some((one) => declarationOf(one) === declarationOf(member)))?.other
  const members = membersOf(name)
  const own = members.filter((member) => placeOf(member) === undefined)
  const elsewhere = others.map((other) => {
    const some = members.filter((member) => placeOf(member) === other)
    if (some.length === 0) throw new Error(`${name} has no member of ${other}`)
    return seeOther(other, some, page)
  })
  const rows = own.map((member) => rowOf(describedMember(member), columns, page))
  const isRequired = ([, value]: string[]) => value === 'required'
  return [...rows.filter(isRequired), ...rows.filter((row) => !isRequired(row)), ...elsewhere]
}

/** The paths as the page names them. */
const PATHS = { token: '{path}', sessions: '/sessions', account: '/auth/account', keys: '/.well-known/jwks.json' }

/** Refusals that endpoints have together, by the word that the page explains. */
const TOGETHER: Readonly<Record<string, readonly AuthErrorCode[]>> = {
  body: ['body_too_large', 'cross_site_form', 'invalid_body', 'unsupported_media_type'],
  busy: ['overloaded', 'unavailable'],
}

/** Returns the refusals of an endpoint, where a word stands for those that it has together. `token` stands for those of its guard. */
function refusalsOf(codes: readonly AuthErrorCode[], isGuarded: boolean): string {
  const words = Object.entries(TOGETHER).filter(([, together]) => together.every((code) => codes.includes(code)))
  const named = new Set(words.flatMap(([, together]) => together))
  const rest = codes.filter((code) => !named.has(code)).map((code) => `\`${code}\``)
  return [...rest.sort(), ...words.map(([word]) => word), ...(isGuarded ? ['token'] : [])].join(', ') || '–'
}

/** Returns the row of each endpoint: its request, and its responses with their codes. */
const rowsOfEndpoints = () =>
  endpointsAt(PATHS, Object.fromEntries(Object.keys(FEATURES).map((name) => [name, true]))).map(({ at, endpoint }) => {
    const request = methodsOf([endpoint]).map((method) => `\`${method}\``)
    const codes = [...codesOf(endpoint)].filter((code) => code !== 'method_not_allowed' && !REFUSALS[code].unseen)
    const successes = successesOf(endpoint).map(([status]) => `\`${status}\``)
    return [
      `${request.join(', ')} \`${pathsBelow(at, endpoint.path)[0]}\``,
      successes.join(', '),
      refusalsOf(codes, endpoint.guard !== undefined),
    ]
  })

/** Returns the rows of a table. */
function rowsOf(name: string, others: readonly string[], head: string, page: string) {
  if (name === 'endpoints') return rowsOfEndpoints()
  const columns = (head.split('\n')[0] as string).split('|').map((cell) => cell.trim())
  const [declaration] = find(name).declarations ?? []
  if (declaration && ts.isTypeAliasDeclaration(declaration)) {
    const values = valuesOf(declaration.type)
    const described = columns.includes('member') ? membersOfEvents(values) : values
    const rows = described.map((value) => rowOf(value, columns, page))
    return columns.includes('status') ? rows.sort(([, one = ''], [, other = '']) => one.localeCompare(other)) : rows
  }
  return rowsOfMembers(name, others, columns, page)
}

/** Returns a page with the tables as its comments say them. */
export const withTables = ({ path, text }: Page): string =>
  text.replace(MARK, (found, name: string, others?: string, head = HEAD) => {
    const rows = rowsOf(name, others?.split(' ') ?? [], head, path)
    return [found.split('\n')[0], `${head}${rows.map((row) => `| ${row.join(' | ')} |\n`).join('')}`].join('\n')
  })

/** The paths of the pages with tables. */
export const PAGES_WITH_TABLES = [...new Set(MARKED.map(({ page }) => page.path))]

/** Returns the members of the options that hosts can name, each as `Type.member`, of which no page has a row. */
export function withoutRow(): string[] {
  const inTables = new Set(
    MARKED.filter(({ name }) => name.endsWith('Options')).flatMap(({ name }) => membersOf(name).map(declarationOf)),
  )
  const entries = ENTRIES.flatMap((name) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(`${root}src/${name}.ts`) as ts.SourceFile)
    return module ? checker.getExportsOfModule(module) : []
  })
  const options = entries.map(({ name }) => name).filter((name) => name.endsWith('Options'))
  return options.flatMap((name) =>
    membersOf(name)
      .filter((member) => !inTables.has(declarationOf(member)))
      .map((member) => `${name}.${member.name}`),
  )
}
