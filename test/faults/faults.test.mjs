import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ROWS } from '../../src/cli/check/rows.ts'
import { cli } from '../support/cli.ts'
import { check, failing } from './apps/check.mjs'
import * as own from './apps/own.mjs'
import { createCopy, planted, ROOT, readTable, TABLES } from './tables.mjs'

describe.each(TABLES)('the table %s', (name) => {
  const faults = readTable(name)

  it('has no two faults with one title', () => {
    expect(new Set(faults.map(({ title }) => title)).size).toBe(faults.length)
  })

  it('has faults that can be planted', () => {
    for (const fault of faults) {
      const text = readFileSync(join(ROOT, fault.file), 'utf8')
      expect(planted(text, fault)).not.toBe(text)
    }
  })
})

describe('check', () => {
  const run = async (args, env) => {
    const { stdout, stderr } = await cli(args, { env })
    expect(stderr).toBe('')
    return stdout
  }

  it('says that everything holds of an app that mounts the package', async () => {
    const { holds, rows } = await check(own, run)
    expect(holds).toBe(true)
    expect(rows.map(({ id }) => id)).toEqual(ROWS.map(({ id }) => id))
    // These rows are about secrets, cookies and limits, which this app does not have.
    const skipped = rows.filter(({ verdict }) => verdict === 'skipped').map(({ id }) => id)
    expect(skipped).toEqual(['guessable-secret', 'cookie-flags', 'guessing'])
  })

  it('names both rows of two environments with one key and one issuer', async () => {
    expect(failing(await check({ ...own, createApp: () => own.createApp(own.HERE) }, run))).toEqual([
      'foreign-token',
      'token-abroad',
    ])
  })

  const faults = readTable('check-own')
  const copy = createCopy(['test/faults/apps'])
  afterAll(copy.remove)

  it.each(faults.map((fault) => [fault.title, fault]))(
    'names what is wrong with %s, and nothing else',
    async (_, fault) => {
      const at = faults.indexOf(fault)
      const app = await copy.withFault(fault, () => import(join(copy.folder, `${fault.file}?${at}`)))
      const report = await check(app, run)
      expect(failing(report)).toEqual(fault.fails)
      // No row stumbles over what it was made for.
      expect(JSON.stringify(report)).not.toContain('cannot be judged')
      for (const { verdict, detail } of report.rows) if (verdict === 'fails') expect(detail).toEqual(expect.any(String))
    },
  )

  it('has a fault for each row', () => {
    const named = faults.flatMap(({ fails }) => fails)
    // check-mapping.test.ts has faults for the last two.
    expect(new Set([...named, 'cookie-flags', 'guessing'])).toEqual(new Set(ROWS.map(({ id }) => id)))
  })
})
