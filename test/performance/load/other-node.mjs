import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { installedNode } from '../../contract/matrix/installed.mjs'

/** Returns true when this process runs the version, such as `24` or `24.1`. */
export const isThisNode = (version) => `${process.versions.node}.`.startsWith(`${version}.`)

/** Runs this command again with another Node from npm. Returns its exit status. */
export async function runWithNode(version) {
  const { program } = await installedNode(version)
  const child = spawn(program, process.argv.slice(1), { stdio: 'inherit' })
  // The child stops its servers, so this process must not end first.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  const [code] = await once(child, 'exit')
  return code ?? 1
}
