import type { IncomingMessage } from 'node:http'

/**
 * Returns whether a request has several header lines of one name. Node keeps the first `Authorization` and the first `Content-Type`
 * and drops the others silently.
 * @param name in lower case
 */
export function isRepeated(req: IncomingMessage, name: string): boolean {
  // Mocks and serverless adapters may have no raw headers, and then they have one value per name.
  const lines: readonly string[] = req.rawHeaders ?? []
  let found = 0
  for (let i = 0; i < lines.length; i += 2) {
    if (lines[i]?.length === name.length && lines[i]?.toLowerCase() === name) found++
  }
  return found > 1
}
