import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, normalizePath, type Rolldown } from 'vite'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PROGRAM = 'virtual:program'

/**
 * Bundles a program with the compiled client, with Vite's own defaults for an app.
 * @param conditions the conditions of `exports` in package.json. Default: those of a browser
 */
async function bundle(program: string, conditions?: string[]): Promise<Rolldown.OutputChunk> {
  const built = await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    ...(conditions && { resolve: { conditions } }),
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === PROGRAM ? PROGRAM : undefined),
        load: (id) => (id === PROGRAM ? program : undefined),
      },
    ],
    build: {
      write: false,
      rolldownOptions: { input: PROGRAM, preserveEntrySignatures: 'strict' },
    },
  })
  const { output } = built as Rolldown.RolldownOutput
  expect(output).toHaveLength(1)
  return output[0]
}

describe('a bundle of the client', () => {
  it.each([
    ['createTokenClient', '{ createTokenClient }', ['createTokenClient'], 6.5],
    ['all its names', '*', ['TokenClientError', 'createTokenClient'], 6.5],
  ])('with %s is small, minified and gzipped', async (_, names, expected, kilobytes) => {
    const { code, exports } = await bundle(`export ${names} from 'express-token-endpoint/client'`)
    expect(exports.sort()).toEqual(expected)
    // A bundle that is not minified would say nothing about the size.
    expect(code.trim().split('\n')).toHaveLength(1)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(kilobytes * 1024)
  })

  it('follows redirects itself only outside of browsers', async () => {
    const follows = async (conditions?: string[]) => {
      const { code } = await bundle("export * from 'express-token-endpoint/client'", conditions)
      return code.includes('redirect refused')
    }
    expect(await follows()).toBe(false)
    for (const runtime of ['node', 'workerd', 'edge-light']) expect(await follows([runtime]), runtime).toBe(true)
  })

  it('has only modules of this package', async () => {
    const { imports, moduleIds } = await bundle("export * from 'express-token-endpoint/client'")
    expect(imports).toEqual([])
    const others = moduleIds.filter((id) => !id.startsWith(normalizePath(`${ROOT}dist/`)))
    expect(others).toEqual([PROGRAM])
  })
})
