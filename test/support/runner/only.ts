import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const path = process.env['TEST_EXPRESS']
const folder = path && resolve(path)

/**
 * The one Express that this run tests. Undefined when the run tests all supported versions. Set `TEST_EXPRESS` to the folder of an installed
 * Express: `npm run test:only -- --project unit` and `npm run test:matrix` do.
 */
export const ONLY_EXPRESS: { folder: string; version: string } | undefined = folder
  ? { folder, version: JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version }
  : undefined

/** A program that runs JavaScript instead of Node, with the arguments before the file. */
export interface Runtime {
  name: string
  version: string
  program: string
  args: readonly string[]
}

const value = process.env['TEST_RUNTIME']

/** The one other runtime that this run tests, as `npm run test:matrix` passes it. Undefined when the run tests Node. */
export const ONLY_RUNTIME: Runtime | undefined = value ? JSON.parse(value) : undefined
