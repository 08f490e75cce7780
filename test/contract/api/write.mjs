import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiReports, REPORTS } from './api-reports.mjs'

// `npm run api:report`: accepts the public types of `src`. Commit what it writes.

const reports = apiReports()
for (const [file, text] of reports) writeFileSync(join(REPORTS, file), text)
for (const file of readdirSync(REPORTS)) {
  if (file.endsWith('.api.md') && !reports.has(file)) rmSync(join(REPORTS, file))
}
