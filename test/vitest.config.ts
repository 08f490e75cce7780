import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ONLY_EXPRESS, ONLY_RUNTIME } from './support/runner/only.js'

const source = (entry: string) => fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url))

/** A project for each folder of tests: `--project unit` runs test/unit. */
const project = (name: string, folder = name) => ({
  extends: true as const,
  test: { name, include: [`test/${folder}/**/*.test.{ts,mjs}`] },
})

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: {
    alias: [
      { find: /^express-token-endpoint$/, replacement: source('index') },
      { find: /^express-token-endpoint\/([\w/]+)$/, replacement: source('$1') },
      { find: /^.*\/on-first-use\.cjs$/, replacement: source('../test/support/runner/on-first-use') },
      { find: /^.*\/simplewebauthn\.cjs$/, replacement: source('../test/support/runner/simplewebauthn') },
      ...(ONLY_EXPRESS ? [{ find: /^express$/, replacement: `${ONLY_EXPRESS.folder}/index.js` }] : []),
    ],
  },
  test: {
    projects: [
      ...['unit', 'contract', 'attacks', 'client', 'hosts', 'languages'].map((name) => project(name)),
      project('example', 'example-app'),
      ...['models', 'faults', 'performance', 'mutation'].map((name) => project(name)),
      ...(ONLY_RUNTIME ? [project('runtimes')] : []),
    ],
    // Stores that fail on purpose would fill the terminal. The warning has its own test.
    execArgv: ['--disable-warning=ExpressTokenEndpointWarning'],
    // Worker threads start faster than processes.
    pool: 'threads',
    setupFiles: 'test/support/runner/seed.ts',
    // A slow machine must not fail a test: no test measures its own duration.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Many tests wait for servers and timers. Two workers for each core keep the cores busy.
    maxWorkers: availableParallelism() * 2,
    reporters: ['default', './test/support/runner/counts.mjs'],
    coverage: {
      include: ['src/**/*.ts'],
      reporter: ['text-summary'],
      // Code for tabs and terminals is run by the system tests, which are not counted.
      thresholds: { statements: 97, branches: 96 },
    },
  },
})
