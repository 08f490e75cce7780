import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * What this project's compiler, as strict as it is here, has to say against some files that are written by a test.
 * @returns nothing when they are right
 */
export function typeErrors(files: readonly string[], loosened: ts.CompilerOptions = {}): string {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram(files, { ...options, ...loosened })
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), {
    getCanonicalFileName: (file) => file,
    getCurrentDirectory: () => root,
    getNewLine: () => '\n',
  })
}
