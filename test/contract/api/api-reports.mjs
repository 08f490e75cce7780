import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const DIST = fileURLToPath(new URL('../../../dist/', import.meta.url))
/** Folder of the reports, which git keeps. */
export const REPORTS = fileURLToPath(new URL('./', import.meta.url))

const printer = ts.createPrinter({ removeComments: true })

/** Returns the report on each file of declarations that the build writes, by the name of the report. A report has no comments. */
export function apiReports() {
  const files = readdirSync(DIST, { recursive: true }).map((file) => file.replaceAll('\\', '/'))
  const declarations = files.filter((file) => /^((types|client)\/)?[\w-]+\.d\.cts$/.test(file)).sort()
  return new Map(
    declarations.map((file) => {
      const source = ts.createSourceFile(file, readFileSync(DIST + file, 'utf8'), ts.ScriptTarget.Latest)
      const text = `\`npm run api:report\` writes this file.\n\n\`\`\`ts\n${printer.printFile(source)}\`\`\`\n`
      return [file.replace('/', '.').replace('.d.cts', '.api.md'), `# ${file}\n\n${text}`]
    }),
  )
}

// `npm run api:report`: accepts the public types of `src`. Commit what it writes.
if (process.argv[1] === import.meta.filename) {
  for (const file of readdirSync(REPORTS)) if (file.endsWith('.api.md')) rmSync(REPORTS + file)
  for (const [file, text] of apiReports()) writeFileSync(REPORTS + file, text)
}
