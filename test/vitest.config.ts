import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Set by `npm run test:matrix`: the folder of the one Express that everything is to be run on. */
const express = process.env['TEST_EXPRESS']

const source = (entry: string) => fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url))

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: {
    alias: [
      { find: /^express-token-endpoint$/, replacement: source('index') },
      { find: /^express-token-endpoint\/openapi$/, replacement: source('openapi') },
      { find: /^express-token-endpoint\/passport$/, replacement: source('passport') },
      { find: /^express-token-endpoint\/testing$/, replacement: source('testing') },
      ...(express ? [{ find: /^express$/, replacement: `${express}/index.js` }] : []),
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'test/**/*.test.mjs'],
    // Stores that fail on purpose would fill the terminal; the warning itself has its test.
    execArgv: ['--disable-warning=ExpressTokenEndpointWarning'],
    // No test is about how long it takes, and a busy machine is no fault of the code.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default vitest leaves a core free, which is half of a machine with two.
    maxWorkers: '100%',
    reporters: ['default', './test/support/runner/count-reporter.ts'],
    coverage: { include: ['src/**'], reporter: ['text'] },
  },
})
