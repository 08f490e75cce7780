import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { EMAIL, PASSWORD } from './account.mjs'
import { mappingOf, STACKS, start } from './start.mjs'

const COMMAND = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const PAGE = new URL('../../docs/evidence/other-stacks.md', import.meta.url)
const [BEGIN, END] = ['<!-- stacks: begin -->', '<!-- stacks: end -->']

/** Checks a running stack. Returns the rows. */
async function check(stack) {
  const { url, stop } = await start(stack)
  try {
    const args = ['check', url, '--email', EMAIL, '--mapping', mappingOf(stack), '--guesses', '50', '--format', 'json']
    const child = spawn(process.execPath, [COMMAND, ...args], {
      env: { ...process.env, CHECK_PASSWORD: PASSWORD },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(await text(child.stdout)).rows
  } finally {
    await stop()
  }
}

const missing = STACKS.filter(({ ready }) => !ready)
if (missing.length > 0) {
  process.stderr.write(
    `Not installed: ${missing.map(({ name }) => name).join(', ')}. Run npm ci --prefix test/stacks --ignore-scripts, and for Django\n` +
      'apt-get install python3-django python3-djangorestframework python3-djangorestframework-simplejwt\n',
  )
  process.exit(1)
}

const results = []
for (const stack of STACKS) results.push({ name: stack.name, rows: await check(stack) })

const cell = (text) => text.replaceAll('|', '\\|')
const count = (rows, verdict) => rows.filter((row) => row.verdict === verdict).length
const failed = results[0].rows
  .map(({ id }) => id)
  .filter((id) => results.some(({ rows }) => rows.find((row) => row.id === id).verdict === 'fails'))
const SIGNS = { holds: 'holds', fails: '**fails**', skipped: '–' }
const table = [
  `| | ${results.map(({ name }) => name).join(' | ')} |`,
  `|---|${results.map(() => '--:').join('|')}|`,
  ...['holds', 'fails', 'skipped'].map(
    (verdict) => `| rows: ${verdict} | ${results.map(({ rows }) => count(rows, verdict)).join(' | ')} |`,
  ),
  ...failed.map(
    (id) =>
      `| \`${id}\` | ${results.map(({ rows }) => SIGNS[rows.find((row) => row.id === id).verdict]).join(' | ')} |`,
  ),
]
const found = results.flatMap(({ name, rows }) =>
  rows
    .filter(({ verdict }) => verdict === 'fails')
    .map(({ id, detail }) => `| ${name} | \`${id}\` | ${cell(detail)} |`),
)
const block = [BEGIN, '', ...table, '', '| stack | row | found |', '|---|---|---|', ...found, '', END].join('\n')
const page = readFileSync(PAGE, 'utf8')
const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)]
if (before < 0 || after < before) throw new Error(`The page has no marks ${BEGIN} and ${END}`)
writeFileSync(PAGE, page.slice(0, before) + block + page.slice(after + END.length))
process.stdout.write(`${block}\n`)
