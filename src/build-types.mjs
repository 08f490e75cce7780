import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const { exports } = JSON.parse(readFileSync(here('../package.json'), 'utf8'))
const names = Object.keys(exports)
  .filter((name) => !name.endsWith('.json'))
  .map((name) => name.slice(2) || 'index')
/** The folder that receives a declaration of each module from the compiler. */
const DECLARATIONS = here('../dist/declarations')

/** Joins the declarations, without those that no host can name. The entries share files, so that a class has one declaration. */
const types = await rollup({
  input: Object.fromEntries(names.map((name) => [name, `${DECLARATIONS}/${name}.d.ts`])),
  external: /^(?!\.|\/|[a-z]:\\)/i,
  plugins: [dts()],
})
await types.write({
  dir: here('../dist'),
  entryFileNames: '[name].d.cts',
  chunkFileNames: 'types/[name].cts',
  minifyInternalExports: false,
  hoistTransitiveImports: false,
})
for (const name of names) {
  // Kysely declares its classes anew for `import`.
  if (name === 'kysely') copyFileSync(here('../dist/kysely.d.cts'), here('../dist/kysely.d.ts'))
  else writeFileSync(here(`../dist/${name}.d.ts`), `export * from './${name.replace(/.*\//, '')}.cjs'\n`)
}
rmSync(DECLARATIONS, { recursive: true })
