/**
 * Says why tests are skipped. With `REQUIRE_SERVICES`, a missing service fails the run.
 * @param isThere whether this machine has the service
 * @returns true for `describe.skipIf` when it has not
 */
export function isMissing(isThere: boolean, what: string, howToGetIt: string): boolean {
  if (isThere) return false
  const message = `${what} is missing. To get it: ${howToGetIt}`
  if (process.env['REQUIRE_SERVICES']) throw new Error(message)
  if (!process.env['TEST_QUICK']) process.stdout.write(`Tests are skipped: ${message}\n`)
  return true
}
