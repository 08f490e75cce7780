import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const { exports } = JSON.parse(readFileSync(here('../package.json'), 'utf8'))
const ENTRIES = Object.keys(exports)
  .filter((name) => !name.endsWith('.json'))
  .map((name) => name.slice(2) || 'index')

/** The modules of one entry, and the module that browsers need too. */
const APART = /[\\/]src[\\/]((client|cli|openapi|passkeys|passport|stores|testing)[\\/]|(?!index\b)\w+\.ts$)/
const IN_CLIENT = /[\\/]src[\\/]client[\\/]/
const IN_BROWSERS = /[\\/](urls|refresh-cookie-name)\.ts$/

/** Replaces the code that only other runtimes need. */
const forBrowsers = {
  name: 'for-browsers',
  resolveId: (id) => (id.endsWith('/runtime.js') ? here('client/runtime-in-browsers.ts') : undefined),
}

/** Joins the modules of `src` to few files. Rolldown's command would print a table of the files. */
const join = (names, output, plugins = []) =>
  build({
    logLevel: 'warn',
    input: Object.fromEntries(names.map((name) => [name, here(`${name}.ts`)])),
    platform: 'node',
    tsconfig: here('tsconfig.json'),
    external: /^(?!\.|\/|[a-z]:\\)/i,
    plugins,
    output: {
      dir: here('../dist'),
      minifyInternalExports: false,
      // Annotations are instructions to bundlers.
      comments: { annotation: true, jsdoc: false, legal: false },
      ...output,
    },
  })

/*
 * CommonJS, because `require` and `import` both load it, with Jest and in each Node, and because it can load a package at its first use.
 * Few files, because Node needs about as long to find and link a file as to run it. The entries share one file of the server's code, so
 * that the process has one copy of each class.
 */
const { output } = await join([...ENTRIES, 'cli'], {
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name].cjs',
  codeSplitting: {
    groups: [
      { name: 'urls', test: IN_BROWSERS, priority: 1 },
      { name: 'token-client', test: IN_CLIENT },
      { name: 'server', test: (id) => !APART.test(id) },
    ],
  },
})

/** The file that `import` loads: the names of the same code. */
for (const { isEntry, name, exports } of output) {
  if (!isEntry || name === 'cli') continue
  const file = name === 'client' ? 'client-in-node' : name
  const inFolder = name.replace(/.*\//, '')
  const names = exports.length > 0 ? `{ ${exports.sort().join(', ')} }` : '{}'
  writeFileSync(here(`../dist/${file}.js`), `export ${names} from './${inFolder}.cjs'\n`)
}

// Browsers need an ES module, and a small one: constants that are used once take the place of their names.
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: false } }
await join(['client'], { entryFileNames: '[name].js', minify }, [forBrowsers])
