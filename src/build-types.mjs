import { readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const { exports } = JSON.parse(readFileSync(here('../package.json'), 'utf8'))
const files = Object.values(exports).flatMap(({ types }) => (types ? [basename(types)] : []))
/** The folder that receives a declaration of each module from the compiler. */
const DECLARATIONS = here('../dist/declarations')

/** Joins the declarations, without those that no host can name. The entries share files, so that a class has one declaration. */
const types = await rollup({
  input: Object.fromEntries(files.map((file) => [file.replace('.d.ts', ''), `${DECLARATIONS}/${file}`])),
  external: /^(?!\.|\/|[a-z]:\\)/i,
  plugins: [dts()],
})
await types.write({
  dir: here('../dist'),
  entryFileNames: '[name].d.ts',
  chunkFileNames: 'types/[name].ts',
  minifyInternalExports: false,
  hoistTransitiveImports: false,
})
rmSync(DECLARATIONS, { recursive: true })
