import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withAttacks } from './attacks.mjs'
import { putBetween, withTables } from './page.mjs'
import { withSummary } from './summary.mjs'

const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')

it.each([
  ['performance', withTables],
  ['performance', withSummary],
  ['under-attack', withAttacks],
])('the figures of the page %s are those of the last measurement', async (name, write) => {
  const page = await read(`../../../../docs/explanation/${name}.md`)
  expect(page).toBe(write(page, JSON.parse(await read('../results/bench.json'))))
})

it('a demand has a column for each Node line, and a dash where it was not measured', () => {
  const measured = (...demands) => ({ memory: { node: '24.1.0', demands } })
  const size = { demand: 'size', measured: '3 MB' }
  const page = withTables('<!-- bench: npm run bench -->\n<!-- /bench -->', {
    20: measured({ ...size, holds: false }),
    24: measured({ ...size, holds: true }, { demand: 'time', measured: '1 s' }),
  })
  expect(page).toContain('| demand | Node 24 | Node 20 |')
  expect(page).toContain('| size | 3 MB yes | 3 MB **no** |')
  expect(page).toContain('| time | 1 s | – |')
})

it('the page on attacks has the measured rows of its two parts, and the other page has none of them', () => {
  const shared = { p50: 1.23, p99: 45.6 }
  const apart = { p50: 0.5, p99: 3 }
  const owners = { statuses: { 200: 20 }, most: 1500 }
  const ours = { shared, apart, owners, memory: 99.7, perSecond: { 401: 5000 } }
  const plain = { shared: { p50: 7, p99: 80 }, apart: { p50: 6, p99: 70 }, owners, memory: 150, perSecond: { 401: 9 } }
  const where = { node: '24.1.0', machine: '2 × CPU', date: '2026-01-02', packages: 'express 5' }
  const results = {
    24: {
      attacks: {
        ...where,
        rows: [{ name: 'forged', package: ours, plain }],
        demands: [{ holds: true }, { holds: false }],
      },
      settings: { ...where, rows: [{ attack: 'guesses', name: 'defaults', ...ours }], demands: [] },
    },
  }
  const marks = (command) => `<!-- bench: ${command} -->\n<!-- /bench -->\n`
  const page = withAttacks(marks('npm run bench -- attacks') + marks('npm run bench -- settings'), results)
  const [attacks, settings] = page.split('<!-- bench: npm run bench -- settings -->')
  expect(attacks).toContain('| forged | 1.2, 46 | 7.0, 80 | 0.5, 3.0 | 6.0, 70 |')
  expect(attacks).toContain(
    '| forged | 200: 20 in 1.50 s | 200: 20 in 1.50 s | 100 MB | 150 MB | 401: 5,000 | 401: 9 |',
  )
  expect(attacks).toContain('1 of 2 attacks meet this demand.')
  expect(attacks).toContain('Node 24.1.0, 2 × CPU, 2026-01-02 · express 5')
  expect(settings).toContain('| guesses | guarded route: p50, p99 in ms | own core | 20 people sign in | memory |')
  expect(settings).toContain('| defaults | 1.2, 46 | 0.5, 3.0 | 200: 20 in 1.50 s | 100 MB |')
  expect(withTables(marks('npm run bench'), results)).toBe(withTables(marks('npm run bench'), {}))
})

it('the summary has the lines of the measured parts', () => {
  const row = (name, median) => ({ name, median, ratio: { median } })
  const mark = '<!-- bench: npm run bench -- --node 24 -->\n<!-- /bench -->'
  const argon2 = [row('this package', 1), row('@node-rs/argon2, which this package calls', 1), row('argon2', 0.4)]
  const bcrypt = [row('this package', 1), row('bcrypt', 1.25), row('bcryptjs', 0.9)]
  const page = withSummary(mark, { 24: { logins: { rows: { argon2, bcrypt } } }, 20: { start: {} } })
  expect(page).toContain('2.50 times as many argon2id hashes per second as `argon2`')
  expect(page).toContain('0.80 times as many bcrypt hashes per second as `bcrypt`')
  expect(page).not.toContain('Cold start')
})

it('a page without the marks is not changed', () => {
  expect(() => putBetween('# Title', 'npm run bench', [])).toThrow('no marks for the tables of npm run bench')
})
