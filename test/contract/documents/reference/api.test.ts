import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import {
  Application,
  type DeclarationReflection,
  Logger,
  LogLevel,
  type ProjectReflection,
  ReflectionKind,
  TSConfigReader,
} from 'typedoc'
import { beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** Collects TypeDoc's warnings and errors, one line each. */
class Complaints extends Logger {
  readonly lines: string[] = []
  override log(message: string, level: LogLevel): void {
    if (level >= LogLevel.Warn) this.lines.push(message)
  }
}

const complaints = new Complaints()
let app: Application
let project: ProjectReflection

beforeAll(async () => {
  const readers = [new TSConfigReader()]
  app = await Application.bootstrap({ tsconfig: `${root}src/tsconfig.json` }, readers)
  app.logger = complaints
  project = (await app.convert()) ?? expect.fail('typedoc read nothing')
})

const all = (kind: ReflectionKind) => project.getReflectionsByKind(kind) as DeclarationReflection[]

describe('the API reference (npm run docs)', () => {
  it('is of every entry of the package', () => {
    const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { exports: Record<string, unknown> }
    const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json')
    const sources = entries.map((name) => `${root}src/${name === '.' ? 'index' : name.slice(2)}.ts`)
    expect(app.options.getValue('entryPoints')).toEqual(sources)
  })

  it('is made without a warning: nothing without a docstring, no link astray, no type that is not there', async () => {
    app.validate(project)
    const out = mkdtempSync(`${tmpdir()}/reference-`)
    try {
      await app.generateDocs(project, out)
    } finally {
      rmSync(out, { recursive: true, force: true })
    }
    expect(complaints.lines).toEqual([])
  })

  it('says of each function what it throws', () => {
    const functions = all(ReflectionKind.Function)
    expect(functions.map(({ name }) => name)).toContain('tokenRouter')
    const silent = functions.filter(
      ({ signatures = [] }) => !signatures.some(({ comment }) => comment?.getTag('@throws')),
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  it('says of each option that may be left out what then holds', () => {
    const options = all(ReflectionKind.Property).filter(({ parent }) => /Options$/.test(parent?.name ?? ''))
    expect(options.map(({ name }) => name)).toContain('clockTolerance')
    const open = options.filter(({ flags, comment }) => {
      const text = comment?.summary.map((part) => part.text).join('') ?? ''
      return flags.isOptional && !/\bdefault\b/i.test(text)
    })
    expect(open.map((option) => option.getFullName())).toEqual([])
  })
})
