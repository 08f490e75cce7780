import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { root } from '../../support/documents/repository.js'

const FOLDER = `${root}test/contract/frozen/releases/`

/** The releases whose data must keep working, oldest first. */
export const RELEASES = readdirSync(FOLDER).sort(new Intl.Collator('en', { numeric: true }).compare)

/** The newest of them, whose shapes this release must write. */
export const NEWEST = RELEASES.at(-1) ?? ''

/**
 * The version whose data the tests write into its folder: `FREEZE=1.1.0 npm run test:only -- test/contract/frozen`. The first run writes, and
 * the next one compares. Freeze once for each release, before its tag, and never change a file of a released version.
 */
export const FREEZE = process.env['FREEZE']

/** Reads what a release has left. */
export const read = <T>(release: string, name: string): T =>
  JSON.parse(readFileSync(`${FOLDER}${release}/${name}.json`, 'utf8'))

/** Stores what this release leaves. A frozen file is never written again. */
export function freeze(name: string, value: unknown): void {
  if (FREEZE === undefined) return
  const file = `${FOLDER}${FREEZE}/${name}.json`
  if (existsSync(file)) expect.fail(`${file} is frozen. Name another version in FREEZE`)
  mkdirSync(`${FOLDER}${FREEZE}`, { recursive: true })
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

export const BREAKING =
  'breaking: needs a major version, because processes of the release before read and write this too'
