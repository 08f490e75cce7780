import { writeFile } from 'node:fs/promises'
import { llmsTexts } from './llms.mjs'

const ROOT = new URL('../../../../', import.meta.url)

for (const [path, text] of await llmsTexts(ROOT)) {
  await writeFile(new URL(path, ROOT), text)
  process.stdout.write(`${path}\n`)
}
