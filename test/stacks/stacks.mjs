import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { EMAIL, PASSWORD } from './account.mjs'
import { MAPPING } from './express-tutorial.mjs'

const HERE = import.meta.dirname
const COMMAND = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
const PAGE = new URL('../../docs/evidence/other-stacks.md', import.meta.url)
const [BEGIN, END] = ['<!-- stacks: begin -->', '<!-- stacks: end -->']

const installed = (name) => existsSync(`${HERE}/node_modules/${name}/package.json`)

/** Python with Debian's packages, when they are installed. */
const python = ['/usr/bin/python3', 'python3'].find(
  (program) => spawnSync(program, ['-c', 'import rest_framework_simplejwt']).status === 0,
)

/** The stacks: their name in the table, their program, whether its packages are installed, and the mapping of their API. */
const STACKS = [
  { name: 'Express tutorial', file: 'express-tutorial.mjs', ready: true, mapping: MAPPING },
  {
    name: 'better-auth',
    file: 'better-auth.mjs',
    ready: installed('better-auth'),
    mapping: {
      login: { path: '/api/auth/sign-in/email' },
      token: { header: 'set-auth-token' },
      guarded: { path: '/me' },
      jwks: '/api/auth/jwks',
    },
  },
  {
    name: 'Fastify',
    file: 'fastify-jwt.mjs',
    ready: installed('@fastify/jwt'),
    mapping: { ...MAPPING, guarded: { path: '/me' } },
  },
  {
    name: 'Hono',
    file: 'hono-jwt.mjs',
    ready: installed('hono'),
    mapping: { ...MAPPING, guarded: { path: '/me' } },
  },
  {
    name: 'Django',
    file: 'django-simplejwt.py',
    ready: python !== undefined,
    mapping: {
      login: { path: '/api/token/', user: 'username' },
      token: { body: 'access' },
      guarded: { path: '/api/me/' },
    },
  },
]

/** Starts a stack. Returns its URL and a function that ends it. */
async function start(file) {
  const child = spawn(file.endsWith('.py') ? python : process.execPath, [join(HERE, file)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    // As in production: Express then shows no stack traces.
    env: { ...process.env, NODE_ENV: 'production', STACK_PASSWORD: PASSWORD },
  })
  const exited = once(child, 'exit')
  const line = await Promise.race([once(createInterface(child.stdout), 'line'), exited.then(() => ['it ended'])])
  const url = /http:\S+/.exec(line[0])?.[0]
  if (!url) throw new Error(`${file}: ${line[0]}`)
  return {
    url,
    async stop() {
      child.kill()
      await exited
    },
  }
}

/** Checks a stack. Returns the rows. */
async function check({ file, mapping }) {
  const folder = mkdtempSync(join(tmpdir(), 'stacks-'))
  const mappingFile = join(folder, 'mapping.json')
  writeFileSync(mappingFile, JSON.stringify(mapping))
  const { url, stop } = await start(file)
  try {
    const args = ['check', url, '--email', EMAIL, '--mapping', mappingFile, '--guesses', '50', '--format', 'json']
    const child = spawn(process.execPath, [COMMAND, ...args], {
      env: { ...process.env, CHECK_PASSWORD: PASSWORD },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(await text(child.stdout)).rows
  } finally {
    await stop()
    rmSync(folder, { recursive: true })
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
