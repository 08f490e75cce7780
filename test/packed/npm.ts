import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const runFile = promisify(execFile)

/** What npm says when it cannot get at the registry: nothing that the package could be blamed for. */
const AWAY = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED)\b/

const HOW_TO_GET_IT = 'go online once; what npm has fetched then stays in its cache'

/** Runs npm in a folder, and gives what it prints. */
export async function npm(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await runFile('npm', args, { cwd: folder, maxBuffer: 1e8, shell: process.platform === 'win32' })
  return stdout
}

/** Installs packages into a folder. @returns false when that needs a registry that is away. */
export async function install(folder: string, packages: readonly string[]): Promise<boolean> {
  try {
    await npm(folder, 'install', '--prefer-offline', '--fetch-retries=1', '--no-audit', '--no-fund', ...packages)
    return true
  } catch (error) {
    if (process.env['REQUIRE_SERVICES'] || !AWAY.test((error as { stderr: string }).stderr)) throw error
    process.stdout.write(`Packed consumers are skipped: npm's registry is not there. To get it: ${HOW_TO_GET_IT}\n`)
    return false
  }
}
