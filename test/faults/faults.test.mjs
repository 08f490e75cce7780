import { expect, it } from 'vitest'
import { ROWS } from '../../src/cli/check/rows.ts'
import { cli } from '../support/cli.ts'
import { check, failing } from './apps/check.mjs'
import * as own from './apps/own.mjs'
import { assertPlantable, readTable, TABLES } from './tables.mjs'

async function run(args, env) {
  const { stdout, stderr } = await cli(args, { env })
  expect(stderr).toBe('')
  return stdout
}

it('`check` says that everything holds of an app that mounts the package', async () => {
  const { holds, rows } = await check(own, run)
  expect(holds).toBe(true)
  expect(rows.map(({ id }) => id)).toEqual(ROWS.map(({ id }) => id))
  // This app signs with a key pair.
  const skipped = rows.filter(({ verdict }) => verdict === 'skipped').map(({ id }) => id)
  expect(skipped).toEqual(['guessable-secret'])
})

it('`check` names the rows of two environments with one key and one issuer', async () => {
  expect(failing(await check({ ...own, createApp: () => own.createApp(own.HERE) }, run))).toEqual([
    'foreign-token',
    'token-abroad',
    'refresh-foreign',
  ])
})

it('each row of `check` has a planted fault', () => {
  const named = readTable('check-own').flatMap(({ fails }) => fails)
  expect(new Set(named)).toEqual(new Set(ROWS.map(({ id }) => id)))
})

it.each(TABLES)('each fault of %s quotes code that is there once', (name) => {
  expect(() => assertPlantable(name)).not.toThrow()
})
