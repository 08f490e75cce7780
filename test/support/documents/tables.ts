import { posix } from 'node:path'
import ts from 'typescript'
import { strictest } from './compiler.js'
import { type Page, pagesBelow, readPage, shippedPages, targetOf } from './pages.js'
import { ENTRIES, root } from './repository.js'

/*
 * The tables of the pages that are made of TSDoc comments. A comment in a page names what its table is of:
 *
 *     <!-- table: TokenRouterOptions -->
 *     <!-- table: AuthOptions, others as TokenIssuerOptions TokenRouterOptions -->
 *
 * The first paragraph of a member's comment is its row. The sentence "Default: …." in it is the column of the default. The other paragraphs
 * are only for editors. A link of a comment is a URL of the repository, which leads to the page from an editor too.
 */

const MARK = /^<!-- table: (\w+)(?:, others as ([\w ]+))? -->\n(?:\|.*\n)*/gm

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
const membersOf = (name: string) => checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(find(name)))

/** Returns the declaration of a member: the same for a member that two types inherit. */
const declarationOf = (member: ts.Symbol) => member.declarations?.[0]

/** Returns the first paragraph of a comment in one line. */
function sentencesOf(symbol: ts.Symbol): string {
  const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  const [first = ''] = comment.split(/\n\s*\n/)
  if (first === '') throw new Error(`"${symbol.name}" has no comment`)
  return first.replace(/\s+/g, ' ').replace(/\{@link (\w+)\}/g, '`$1`')
}

/** Returns a text as a cell of a table, whose links are relative to the page where the package has both. */
const cellOf = (text: string, page: string) =>
  text
    .replace(/\.$/, '')
    .replace(/(?<!\\)\|/g, '\\|')
    .replace(/\]\((https:[^)]+)\)/g, (link, url: string) => {
      const { file, anchor } = targetOf(page, url)
      if (!shippedPages().includes(file)) return link
      const path = file === page ? '' : posix.relative(posix.dirname(page), file)
      return `](${path}${anchor === undefined ? '' : `#${anchor}`})`
    })

const DEFAULT = /(?:^| )Default: ((?:`[^`]*`|[^`])*?)\.(?= |$)/

/** Returns the row of a member: its name, its default and its meaning. */
function rowOf(member: ts.Symbol, page: string): string[] {
  const text = sentencesOf(member)
  const isOptional = member.flags & ts.SymbolFlags.Optional
  const [sentence = '', value = isOptional ? undefined : 'required'] = DEFAULT.exec(text) ?? []
  if (value === undefined) throw new Error(`The comment of "${member.name}" has no sentence "Default: …."`)
  return [`\`${member.name}\``, cellOf(value, page), cellOf(text.replace(sentence, '').trim(), page)]
}

/** The marks of all pages. */
const MARKED = pagesBelow('docs').flatMap((path) => {
  const page = readPage(path)
  return [...page.text.matchAll(MARK)].map(([, name = '', others = ''], index) => ({
    page,
    name,
    others,
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
  return [members.map((member) => `\`${member.name}\``).join(', '), 'see there', `As for ${link}`]
}

/** Returns the table of a type. Required members come first, and those that another table describes last. */
function tableOf(name: string, others: readonly string[], page: string): string {
  const places = others.map((other) => ({ other, members: membersOf(other) }))
  const placeOf = (member: ts.Symbol) =>
    places.find(({ members }) => members.some((one) => declarationOf(one) === declarationOf(member)))?.other
  const members = membersOf(name)
  const own = members.filter((member) => placeOf(member) === undefined)
  const rows = own.map((member) => rowOf(member, page))
  const sorted = [
    ...rows.filter(([, value]) => value === 'required'),
    ...rows.filter(([, value]) => value !== 'required'),
  ]
  const elsewhere = others.map((other) => [other, members.filter((member) => placeOf(member) === other)] as const)
  for (const [other, some] of elsewhere) {
    if (some.length === 0) throw new Error(`${name} has no member of ${other}`)
    sorted.push(seeOther(other, some, page))
  }
  return ['| option | default | meaning |\n|---|---|---|', ...sorted.map((row) => `| ${row.join(' | ')} |`), ''].join(
    '\n',
  )
}

/** Returns a page with the tables as its comments say them. */
export const withTables = ({ path, text }: Page): string =>
  text.replace(MARK, (found, name: string, others: string | undefined) => {
    const [mark] = found.split('\n')
    return `${mark}\n${tableOf(name, others?.split(' ') ?? [], path)}`
  })

/** The paths of the pages with tables. */
export const PAGES_WITH_TABLES = [...new Set(MARKED.map(({ page }) => page.path))]

/** Returns the members of the options that hosts can name, each as `Type.member`, of which no page has a row. */
export function withoutRow(): string[] {
  const described = new Set(MARKED.flatMap(({ name }) => membersOf(name).map(declarationOf)))
  const entries = ENTRIES.flatMap((name) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(`${root}src/${name}.ts`) as ts.SourceFile)
    return module ? checker.getExportsOfModule(module) : []
  })
  const options = entries.map(({ name }) => name).filter((name) => name.endsWith('Options'))
  return options.flatMap((name) =>
    membersOf(name)
      .filter((member) => !described.has(declarationOf(member)))
      .map((member) => `${name}.${member.name}`),
  )
}
