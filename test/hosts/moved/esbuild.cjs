// Compiles the TypeScript of a moved app for Jest.
const { transformSync } = require('esbuild')

const tsconfigRaw = { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } }
module.exports = {
  process: (source, sourcefile) =>
    transformSync(source, { loader: 'ts', format: 'cjs', target: 'node20', sourcefile, tsconfigRaw }),
}
