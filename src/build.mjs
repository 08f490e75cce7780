import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const { exports } = JSON.parse(readFileSync(here('../package.json'), 'utf8'))
const ENTRIES = Object.values(exports)
  .flatMap(({ default: file = [] }) => file)
  .map((file) => basename(file, '.js'))
const LATE = /[\\/]on-first-use\.cjs$/

/** The modules of one entry, and the module that browsers need too. */
const APART = /[\\/]src[\\/]((client|cli|openapi|passport|stores|testing)[\\/]|(?!index\b)\w+\.ts$)/
const IN_CLIENT = /[\\/]src[\\/]client[\\/]/
const IN_BROWSERS = /[\\/]urls\.ts$/

/**
 * Joins the modules of `src` to few files, because Node needs about as long to find and link a file as to run it. The entries share
 * one file of the server's code, so that the process has one copy of each class. Rolldown's command would print a table of the files.
 */
await build({
  logLevel: 'warn',
  input: Object.fromEntries([...ENTRIES, 'cli'].map((name) => [name, here(`${name}.ts`)])),
  platform: 'node',
  tsconfig: here('tsconfig.json'),
  external: /^(?!\.|\/|[a-z]:\\)/i,
  plugins: [
    {
      // It stays a separate file, because only CommonJS can load a package at its first use.
      name: 'on-first-use',
      resolveId: (id, importer) => (LATE.test(id) ? { id: resolve(importer, '..', id), external: true } : undefined),
      generateBundle() {
        const fileName = 'packages/on-first-use.cjs'
        this.emitFile({ type: 'asset', fileName, source: readFileSync(here(fileName)) })
      },
    },
  ],
  output: {
    dir: here('../dist'),
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    // Annotations are instructions to bundlers.
    comments: { annotation: true, jsdoc: false, legal: false },
    codeSplitting: {
      groups: [
        { name: 'urls', test: IN_BROWSERS, priority: 1 },
        { name: 'token-client', test: IN_CLIENT },
        { name: 'server', test: (id) => !APART.test(id) },
      ],
    },
  },
})
