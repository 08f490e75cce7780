import { type Io, paint } from '../io.js'
import type { Result } from './verdict.js'

const COLOURS = { holds: 'green', fails: 'red', skipped: 'yellow' } as const
const ID_WIDTH = 20

/** Creates a report, which prints each row when it is judged, or with `asJson` one object at the end. */
export function createReport(asJson: boolean, { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>) {
  // Shows the current row on one line of a terminal.
  const clear = () => stderr.isTTY && stderr.write('\r\u001b[K')
  return {
    began(title: string, index: number, count: number) {
      clear()
      if (stderr.isTTY) stderr.write(`${index + 1}/${count} ${title}`.slice(0, 72))
    },
    ended(result: Result) {
      clear()
      if (!asJson) stdout.write(`${textOf(result, stdout)}\n`)
    },
    done(url: string, results: readonly Result[]) {
      const counts = { holds: 0, fails: 0, skipped: 0 }
      for (const { verdict } of results) counts[verdict]++
      const { holds, fails, skipped } = counts
      stdout.write(
        asJson
          ? `${JSON.stringify({ url, holds: fails === 0, counts, rows: results }, null, 2)}\n`
          : `\n${url}: ${holds} hold, ${fails} ${fails === 1 ? 'fails' : 'fail'}, ${skipped} skipped\n`,
      )
    },
  }
}

/** Returns a line for a row, and a second line for a fault or the reason for skipping the row. */
function textOf({ id, title, source, verdict, detail }: Result, stdout: Io['stdout']): string {
  const word = paint(stdout, COLOURS[verdict], verdict.padEnd(8))
  const line = `${word}${id.padEnd(ID_WIDTH)}${title} ${paint(stdout, 'dim', `(${source})`)}`
  return detail ? `${line}\n${' '.repeat(8 + ID_WIDTH)}${verdict === 'fails' ? 'found: ' : ''}${detail}` : line
}
