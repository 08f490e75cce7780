import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { transpile } from '../../../support/documents/compiler.js'
import { runNode, startExamples } from '../../../support/documents/examples.js'
import { root } from '../../../support/documents/repository.js'

const { fileOf, folder } = startExamples(import.meta.url)

/** The number of tests in each block that runs in vitest. */
const TESTS = {
  'store-contract': 23,
  'whole-store-contract': 44,
  'testing-vitest': 12,
  'testing-sessions': 12,
}

describe('the page on testing', () => {
  it('store-contract, whole-store-contract, testing-vitest and testing-sessions pass in vitest', async () => {
    const alias = ['testing', 'index'].map((entry) => ({
      find: `express-token-endpoint${entry === 'index' ? '' : `/${entry}`}`,
      replacement: `${root}src/${entry}.ts`,
    }))
    const config = { resolve: { alias }, test: { include: Object.keys(TESTS).map((name) => `${name}.ts`) } }
    const file = `${folder}/vitest.config.mjs`
    writeFileSync(file, `export default ${JSON.stringify(config)}`)
    const vitest = `${root}node_modules/vitest/vitest.mjs`
    const { stdout } = await runNode(vitest, 'run', '--root', folder, '--config', file, '--reporter', 'json')
    const { testResults } = JSON.parse(stdout) as {
      testResults: { name: string; assertionResults: { status: string }[] }[]
    }
    const passed = testResults.map(({ name, assertionResults }) => [
      basename(name, '.ts'),
      assertionResults.filter(({ status }) => status === 'passed').length,
    ])
    expect(Object.fromEntries(passed)).toEqual(TESTS)
  })

  it.each([
    ['readme-test', 1],
    ['testing-client', 1],
    ['testing-node', 1],
  ])("%s: passes in Node's test runner", async (name, tests) => {
    writeFileSync(`${folder}/${name}.mjs`, transpile(readFileSync(fileOf(name), 'utf8')))
    const { stdout } = await runNode('--test-reporter=tap', `${folder}/${name}.mjs`)
    expect(stdout).toMatch(new RegExp(`^# tests ${tests}\\n# suites 0\\n# pass ${tests}$`, 'm'))
  })
})
