import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Ability, Failed, type Fault, type Maker } from '../fault.js'
import { ours } from '../ours.js'
import { restoreClocks, runFault } from '../run-fault.js'
import { FAULTS } from '../table/index.js'

/** The result of a fault: true when the client passes, what it does wrong, or undefined when the fault does not apply. */
type Result = string | true | undefined

type Results = { client: string; groups: { group: string; rows: { name: string; result: Result }[] }[] }[]

const cell = (result: Result) => (result === true ? '✓' : (result ?? '–'))
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Writes the page about the faults. */
function page(results: Results): string {
  const groups = results[0]?.groups ?? []
  const total = groups.reduce((sum, { rows }) => sum + rows.length, 0)
  const header = ['fault', ...results.map(({ client }) => client)]
  const table = (rows: string[][], head = header) => [line(head), line(head.map(() => '---')), ...rows.map(line)]

  const counts = results.map(({ client, groups: own }) => {
    const all = own.flatMap(({ rows }) => rows.map(({ result }) => result))
    const applies = all.filter((result) => result !== undefined)
    return [client, String(applies.filter((result) => result === true).length), String(applies.length)]
  })
  const sections = groups.flatMap(({ group, rows }, at) => [
    `## ${group}`,
    '',
    ...table(
      rows.map(({ name }, row) => [
        capital(name),
        ...results.map(({ groups: own }) => cell(own[at]?.rows[row]?.result)),
      ]),
    ),
    '',
  ])
  return `# How clients behave at faults

A server, a network, a clock or a caller can have a fault. This page lists ${total} faults, and what four clients do at each of them. Every
fault runs against a real server on this machine. In a clone, \`npx vitest run --config test/client/vitest.config.ts compare\` runs them and writes this page.

${table(counts, ['client', 'passes', 'of']).join('\n')}

- **✓**: the client does what it must.
- **–**: the fault does not apply, because the client has no such feature.
- **Other text**: what the client does in place of that.

None of the other clients knows the token call of this specification. Each one is set up as its documentation says, and they share a
sign-in of ten lines with \`fetch\`. That sign-in has no time limit, ignores \`Retry-After\` and does not check the token. So the groups "Try
again later" and "Malformed responses" tell what happens with such a sign-in, and not what these clients could do with a better one.
Azure's policy accepts https only, so its requests are changed to http on their way. The other clients can do things that this client
cannot, for example OAuth 2.0 flows and refresh tokens.

${sections.join('\n')}
## See also

- [Call the API with a client that renews its token](../guides/client.md)
- [Clients in other languages](../guides/clients.md)
`
}

const PAGE = new URL('../../../../docs/evidence/client-faults.md', import.meta.url)

/** A client that takes longer has no time limit. The longest fault of ours takes four seconds. */
const PATIENCE_MS = 8000

type Peer = Maker & { abilities: readonly Ability[] }

async function judge(fault: Fault, maker: Maker & Partial<Peer>): Promise<string | true | undefined> {
  const { abilities } = maker
  if (abilities && fault.tags.some((tag) => tag !== 'waits' && !abilities.includes(tag))) return undefined
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, 'waits without a time limit')
  })
  const run = runFault(fault, maker).then(
    () => true as const,
    (error) => (error instanceof Failed ? error.message : 'the call fails'),
  )
  const result = await Promise.race([run, late])
  clearTimeout(timer)
  // A run that hangs has not done this.
  restoreClocks()
  return result
}

it('every client meets every fault', async () => {
  const { PEERS } = (await import('../../../hosts/clients/token-clients.mjs' as string)) as { PEERS: Peer[] }
  const results: Results = []
  for (const maker of [ours, ...PEERS]) {
    const groups: Results[number]['groups'] = []
    for (const [group, faults] of Object.entries(FAULTS)) {
      const rows = []
      for (const fault of faults) rows.push({ name: fault.name, result: await judge(fault, maker) })
      groups.push({ group, rows })
    }
    results.push({ client: maker.name, groups })
  }
  writeFileSync(PAGE, page(results))
  expect(results[0]?.groups.flatMap(({ rows }) => rows.filter(({ result }) => result !== true))).toEqual([])
})
