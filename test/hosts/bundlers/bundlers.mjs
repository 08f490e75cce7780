import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { build as viteBuild } from 'vite'

/*
 * Each function bundles `host.mjs` of a project, with everything that it imports, into one file next to the project.
 * Returns the file.
 */

const { resolve } = createRequire(import.meta.url)

/** Runs the command of a bundler in the project, because it reads the settings of its working directory. */
const command = (project, program, ...args) =>
  promisify(execFile)(process.execPath, [resolve(program), ...args], { cwd: project })

const node = { bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' }

/** Express is CommonJS, and needs `require` in a bundle that is an ES module. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

export async function esbuildToEsm(project) {
  const outfile = join(project, '../bundles/esbuild/host.mjs')
  const banner = { js: REQUIRE }
  await build({ ...node, entryPoints: [join(project, 'host.mjs')], outfile, format: 'esm', banner })
  return outfile
}

export async function esbuildToCommonJs(project) {
  const outfile = join(project, '../bundles/esbuild/host.cjs')
  await build({ ...node, entryPoints: [join(project, 'host.mjs')], outfile, format: 'cjs', minify: true })
  return outfile
}

export async function tsup(project) {
  const options = '--format cjs --no-config --out-dir ../bundles/tsup'.split(' ')
  await command(project, 'tsup/dist/cli-default.js', 'host.mjs', ...options)
  return join(project, '../bundles/tsup/host.js')
}

export async function ncc(project) {
  await command(project, '@vercel/ncc/dist/ncc/cli.js', 'build', 'host.mjs', '--out', '../bundles/ncc', '--no-cache')
  return join(project, '../bundles/ncc/index.mjs')
}

export async function vite(project) {
  const outDir = join(project, '../bundles/vite')
  await viteBuild({
    configFile: false,
    root: project,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: join(project, 'host.mjs'),
      outDir,
      minify: true,
      rolldownOptions: { output: { entryFileNames: 'host.mjs' } },
    },
  })
  return join(outDir, 'host.mjs')
}
