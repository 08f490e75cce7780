// Loads before the tests of an app that Mocha runs: its functions, of Node's runner, and the same random data in each run.
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { after, describe, test } = require('node:test')

createRequire(join(process.cwd(), 'index.js'))('faker').seed(1)

/** A test that ends when it calls `done`. */
const it = (title, work) => test(title, (_context, done) => work(done))
Object.assign(globalThis, { after, describe, it })
