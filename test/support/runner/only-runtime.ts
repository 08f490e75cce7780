/** A program that runs JavaScript instead of Node, with the arguments before the file. */
export interface Runtime {
  name: string
  version: string
  program: string
  args: readonly string[]
}

const value = process.env['TEST_RUNTIME']

/** The one other runtime that this run tests, as `npm run test:matrix` passes it. Undefined when the run tests Node. */
export const ONLY_RUNTIME: Runtime | undefined = value ? JSON.parse(value) : undefined
