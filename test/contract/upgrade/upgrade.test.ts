import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { createApp } from './apps/after.mjs'
import { drive, newKey } from './apps/drive.mjs'

const FOLDER = `${root}test/contract/upgrade/`
/** The responses of 0.1 to the clients of the app, as `upgrade.system.test.ts` checks. */
const SEEN = JSON.parse(readFileSync(`${FOLDER}seen.json`, 'utf8'))

it('clients of an app of 0.1 notice nothing after the changes of docs/reference/compatibility.md', async () => {
  const { seen } = await drive(createApp, newKey())
  expect(seen).toEqual(SEEN)
})

it('the page names each line that the app changes', () => {
  const lines = (name: string) => readFileSync(`${FOLDER}apps/${name}.mjs`, 'utf8').split('\n')
  const kept = new Set(lines('after'))
  const names = [
    ...new Set(
      lines('before')
        .filter((line) => !kept.has(line))
        .join('\n')
        .match(/\w{3,}/g),
    ),
  ]
  const page = readFileSync(`${root}docs/reference/compatibility.md`, 'utf8').split('## Migrate from 0.1')[1] ?? ''
  const changed = names.filter((name) => !lines('after').some((line) => new RegExp(`\\b${name}\\b`).test(line)))
  expect(changed.filter((name) => !page.includes(name))).toEqual([])
  expect(changed).toContain('createThrottle')
})
