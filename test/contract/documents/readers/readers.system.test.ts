import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { NO_HOSTS } from '../../../hosts/kit.js'
import { freePort } from '../../../support/services/servers/free-port.mjs'
import { type Packed, pack, tempFolder } from '../../packed/pack.js'
import { follow, NO_SHELL } from './follow.js'
import { needsHosts, packagesOf, pagesWithExamples, problemsOf, readersProject } from './project.js'

let packed: Packed
let temporary: Awaited<ReturnType<typeof tempFolder>>
beforeAll(async () => {
  temporary = await tempFolder('pages')
  packed = await pack(temporary.folder)
})
afterAll(() => temporary.remove())

describe('the reader of a page', () => {
  it('has the packages that the page tells to install, and no other', () => {
    expect(packagesOf('README.md')).toEqual([
      '@types/express',
      '@types/node',
      'express',
      'express-token-endpoint',
      'typescript',
    ])
  })

  it.for(pagesWithExamples())('%s: a strict compiler accepts each block', async (page, { skip }) => {
    skip(NO_HOSTS && needsHosts(page), 'npm ci --prefix test/hosts --ignore-scripts')
    const project = await tempFolder('reader')
    onTestFinished(() => project.remove())
    const files = await readersProject(project.folder, page, packed)
    expect(files).not.toEqual([])
    expect(problemsOf(files)).toEqual([])
  })
})

describe.skipIf(NO_SHELL)('a reader who saves the files of a page and runs its commands', () => {
  const followed = async (page: string, until?: string) => {
    const project = await tempFolder('follower')
    onTestFinished(() => project.remove())
    const port = await freePort()
    return follow(page, project.folder, packed.tarball, port, until)
  }
  const statuses = (output: string) => output.match(/(?<=HTTP\/1\.1 )\d+/g)

  it('README.md: gets a token and calls the guarded route', async () => {
    expect(await followed('README.md', 'Authorization: Bearer')).toMatch(/\{"account":"acc-1"\}$/)
  })

  it('docs/tutorial.md: gets each response that the page tells of, and passes its tests', async () => {
    const output = await followed('docs/tutorial.md')
    expect(output).toMatch(/\{"authenticationToken":"[\w-]+\.[\w-]+\.[\w-]+","expiration":"[^"]+"\}/)
    expect(statuses(output)).toEqual(['401', '200', '204', '401'])
    expect(output).toMatch(/^(# |ℹ )pass 2$/m)
  })
})
