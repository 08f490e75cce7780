import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { transpile } from '../../../support/documents/compiler.js'
import { runNode, startExamples } from '../../../support/documents/examples.js'
import { root } from '../../../support/documents/repository.js'

const { fileOf, folder } = startExamples(import.meta.url)

describe('the page on testing', () => {
  it.each([
    ['store-contract', 11],
    ['session-contract', 11],
    ['testing-vitest', 10],
  ])('%s: passes in vitest', async (name, tests) => {
    const alias = ['testing', 'index'].map((entry) => ({
      find: `express-token-endpoint${entry === 'index' ? '' : `/${entry}`}`,
      replacement: `${root}src/${entry}.ts`,
    }))
    const config = { resolve: { alias }, test: { include: [`${name}.ts`] } }
    const file = `${folder}/${name}.config.mjs`
    writeFileSync(file, `export default ${JSON.stringify(config)}`)
    const vitest = `${root}node_modules/vitest/vitest.mjs`
    const { stdout } = await runNode(vitest, 'run', '--root', folder, '--config', file, '--reporter', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ numTotalTests: tests, numPassedTests: tests })
  })

  it.each([
    ['testing-client', 2],
    ['testing-node', 2],
  ])("%s: passes in Node's test runner", async (name, tests) => {
    writeFileSync(`${folder}/${name}.mjs`, transpile(readFileSync(fileOf(name), 'utf8')))
    const { stdout } = await runNode('--test-reporter=tap', `${folder}/${name}.mjs`)
    expect(stdout).toMatch(new RegExp(`^# tests ${tests}\\n# suites 0\\n# pass ${tests}$`, 'm'))
  })
})
