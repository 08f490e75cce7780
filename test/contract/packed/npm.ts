import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const runFile = promisify(execFile)

/** Short pauses between attempts, because npm's own pauses are at least 10 s. */
const RETRIES = ['--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000']

const HOW_TO_GET_IT = 'go online once; what npm has fetched then stays in its cache'

/** Runs npm in a folder, and gives what it prints. */
export async function npm(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await runFile('npm', args, { cwd: folder, maxBuffer: 1e8, shell: process.platform === 'win32' })
  return stdout
}

/** Installs packages into a folder. Returns false when that failed because the registry is unreachable. */
export async function install(folder: string, packages: readonly string[]): Promise<boolean> {
  try {
    await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...RETRIES, ...packages)
    return true
  } catch (error) {
    // By its own words the failure may be another one: to npm, a peer that it cannot fetch is a conflict.
    if (process.env['REQUIRE_SERVICES'] || (await isThere(folder))) throw error
    process.stdout.write(`Packed consumers are skipped: npm's registry is not there. To get it: ${HOW_TO_GET_IT}\n`)
    return false
  }
}

const isThere = (folder: string) =>
  npm(folder, 'ping', ...RETRIES).then(
    () => true,
    () => false,
  )
