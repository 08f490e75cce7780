import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { main } from '../../src/cli/main.js'

interface Ran {
  code: number
  stdout: string
  stderr: string
}

interface World {
  env?: Record<string, string>
  /** Standard input, as a pipe. */
  input?: string | Uint8Array
}

/** Runs the command in this process, with pipes. Removes colours, which the environment may force. */
export async function cli(args: readonly string[], { env = {}, input = '' }: World = {}): Promise<Ran> {
  const [stdin, stdout, stderr] = [new PassThrough().end(input), new PassThrough(), new PassThrough()]
  const written = Promise.all([text(stdout), text(stderr)])
  const code = await main(args, { env, stdin, stdout, stderr }).finally(() => {
    stdout.end()
    stderr.end()
  })
  const [out, err] = await written
  return { code, stdout: stripVTControlCharacters(out), stderr: stripVTControlCharacters(err) }
}

interface Row {
  id: string
  verdict: string
  detail?: string
}

/** Runs `check` with `--json`. Returns its report too. */
export async function checkReport(args: readonly string[], world: World) {
  const ran = await cli(['check', ...args, '--json'], world)
  const report: { url: string; holds: boolean; counts: Record<string, number>; rows: Row[] } = JSON.parse(ran.stdout)
  return {
    ...ran,
    ...report,
    rowOf: (id: string) => report.rows.find((row) => row.id === id),
    fails: report.rows.filter(({ verdict }) => verdict === 'fails'),
  }
}
