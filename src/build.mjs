import { readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const DIST = here('../dist')
const TYPED = ['index', 'client', 'express', 'openapi', 'passport', 'testing']
const ENTRIES = [...TYPED, 'cli']
const external = /^(?!\.|\/|[a-z]:\\)/i
const LATE = /[\\/]on-first-use\.cjs$/

/** The modules of one entry, and the module that browsers need too. */
const APART = /[\\/]src[\\/](client|cli|express|openapi|passport|testing|http[\\/]strategies)\b/
const IN_CLIENT = /[\\/]src[\\/]client[\\/]/
const IN_BROWSERS = /[\\/]urls\.ts$/

/**
 * Joins the modules of `src` to few files, because Node needs about as long to find and link a file as to run it. The entries share
 * one file of the server's code, so that the process has one copy of each class. Rolldown's command would print a table of the files.
 */
await build({
  logLevel: 'warn',
  input: Object.fromEntries(ENTRIES.map((name) => [name, here(`${name}.ts`)])),
  platform: 'node',
  tsconfig: here('tsconfig.json'),
  external,
  plugins: [
    {
      // Each stays a separate file, because only CommonJS can load a package at its first use.
      name: 'on-first-use',
      resolveId: (id, importer) => (LATE.test(id) ? { id: resolve(importer, '..', id), external: true } : undefined),
      generateBundle() {
        for (const fileName of ['shared/packages/on-first-use.cjs', 'http/on-first-use.cjs']) {
          this.emitFile({ type: 'asset', fileName, source: readFileSync(here(fileName)) })
        }
      },
    },
  ],
  output: {
    dir: DIST,
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

/** Joins the declarations, without those that no host can name. The entries share files here too, so that a class has one declaration. */
const DECLARATIONS = here('../dist/declarations')
const types = await rollup({
  input: Object.fromEntries(TYPED.map((name) => [name, `${DECLARATIONS}/${name}.d.ts`])),
  external,
  plugins: [dts()],
})
await types.write({
  dir: DIST,
  entryFileNames: '[name].d.ts',
  chunkFileNames: 'types/[name].ts',
  minifyInternalExports: false,
  hoistTransitiveImports: false,
})
rmSync(DECLARATIONS, { recursive: true })
