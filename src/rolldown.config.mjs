import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'rolldown'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const ENTRIES = ['index', 'client', 'express', 'openapi', 'passport', 'testing', 'cli']
const LATE = 'http/on-first-use.cjs'

/**
 * Joins the modules of `src` to few files, because Node needs about as long to find and link a file as to run it. Modules that
 * entries share stay in files that they share, so that the process has one copy of each class.
 */
export default defineConfig({
  input: Object.fromEntries(ENTRIES.map((name) => [name, here(`${name}.ts`)])),
  platform: 'node',
  tsconfig: here('tsconfig.json'),
  external: /^(?!\.|\/|[a-z]:\\)/i,
  plugins: [
    {
      // Stays a file of its own, because only CommonJS can load a package at its first use.
      name: 'on-first-use',
      resolveId: (id) => (id.endsWith('/on-first-use.cjs') ? { id: here(LATE), external: true } : undefined),
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: LATE, source: readFileSync(here(LATE)) })
      },
    },
  ],
  output: { dir: here('../dist'), chunkFileNames: 'chunks/[name].js', minifyInternalExports: false },
})
