import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PROGRAM = fileURLToPath(new URL('../programs/functions.mjs', import.meta.url))

export const title =
  'The functions of this package that a login, a guarded request with a new token and one with a cached token run'

export async function run({ node }) {
  const { stdout } = await promisify(execFile)(node, ['--no-lazy-feedback-allocation', PROGRAM])
  const found = Object.entries(JSON.parse(stdout)).map(([request, files]) => [request, Object.entries(files)])
  const counts = found.map(([request, files]) => [request, files.flatMap(([, names]) => names).length, files.length])
  const lists = found.map(([request, files]) => [[request, ''], files.map(([file, names]) => [file, names.join(', ')])])
  return { tables: [[['request', 'functions', 'files'], counts], ...lists] }
}
