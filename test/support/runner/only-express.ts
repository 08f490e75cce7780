import { readFileSync } from 'node:fs'

const folder = process.env['TEST_EXPRESS']

/** The version of the one Express that this run is about: see `npm run test:matrix`. Else it is about all that hosts run. */
export const ONLY_EXPRESS: string | undefined =
  folder && JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version
