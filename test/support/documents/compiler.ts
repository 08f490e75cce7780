import ts from 'typescript'
import { root } from './repository.js'

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)

/** The options of this project. */
export const { options: strictest } = ts.parseJsonConfigFileContent(config, ts.sys, root)

/** Files of packages, which are parsed once. */
const parsed = new Map<string, ts.SourceFile | undefined>()

/**
 * Compiles files.
 * @param folder the folder that sees the packages of `types`
 * @returns the errors as text with their places, empty when there are none
 */
export function typeErrors(files: readonly string[], options = strictest, folder = root): string {
  const host = ts.createCompilerHost(options)
  host.getCurrentDirectory = () => folder
  const { getSourceFile } = host
  host.getSourceFile = (name, ...rest) => {
    if (!name.startsWith(`${root}node_modules/`)) return getSourceFile(name, ...rest)
    if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest))
    return parsed.get(name)
  }
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(ts.createProgram(files, options, host)), host)
}

/** Returns a module without its types. */
export const transpile = (code: string): string =>
  ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 } })
    .outputText
