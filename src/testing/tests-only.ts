/**
 * Keeps what is for tests out of production.
 * @throws TypeError where `NODE_ENV` is `production`
 */
export function testsOnly(caller: string): void {
  if (process.env['NODE_ENV'] !== 'production') return
  throw new TypeError(`${caller}: is for tests alone, but NODE_ENV is "production". Run the tests with NODE_ENV=test`)
}
