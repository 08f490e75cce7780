import { misuse, PAGE } from '../options/misuse.js'

/** @throws TypeError when `NODE_ENV` is `production` */
export function testsOnly(caller: string): void {
  if (process.env['NODE_ENV'] !== 'production') return
  throw misuse(
    `${caller}: is only for tests, but NODE_ENV is "production". Run the tests with NODE_ENV=test`,
    PAGE.tests,
  )
}
