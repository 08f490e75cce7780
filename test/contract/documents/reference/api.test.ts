import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import {
  Application,
  type DeclarationReflection,
  LogLevel,
  type ProjectReflection,
  ReflectionKind,
  TSConfigReader,
} from 'typedoc'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ENTRIES, root } from '../../../support/documents/repository.js'

/** TypeDoc's warnings and errors, one line each. */
const complaints: string[] = []
let app: Application
let project: ProjectReflection

beforeAll(async () => {
  // The compiler has checked these files during the build.
  app = await Application.bootstrap({ tsconfig: `${root}src/tsconfig.json`, skipErrorChecking: true }, [
    new TSConfigReader(),
  ])
  app.logger.log = (message, level) => void (level >= LogLevel.Warn && complaints.push(message))
  project = (await app.convert()) ?? expect.fail('typedoc read nothing')
})

const all = (kind: ReflectionKind) => project.getReflectionsByKind(kind) as DeclarationReflection[]

describe('the API reference (npm run docs)', () => {
  it('is of every entry of the package', () => {
    expect(
      all(ReflectionKind.Module)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(ENTRIES.toSorted())
  })

  it('is made without a warning: nothing without a docstring, no link astray, no type that is not there', async () => {
    app.validate(project)
    const out = mkdtempSync(`${tmpdir()}/reference-`)
    onTestFinished(() => rmSync(out, { recursive: true, force: true }))
    await app.generateDocs(project, out)
    expect(complaints).toEqual([])
  })

  it('says of each function what it throws', () => {
    const functions = all(ReflectionKind.Function)
    const throws = ({ signatures = [] }: DeclarationReflection) =>
      signatures.some(({ comment }) => comment?.getTag('@throws'))
    expect(functions.filter((one) => !throws(one)).map(({ name }) => name)).toEqual([])
  })

  it('says of each option that may be left out what then holds', () => {
    const options = all(ReflectionKind.Property).filter(({ parent }) => /Options$/.test(parent?.name ?? ''))
    expect(options.length).toBeGreaterThan(30)
    const open = options.filter(({ flags, comment }) => {
      const text = comment?.summary.map((part) => part.text).join('') ?? ''
      return flags.isOptional && !/\bdefault\b/i.test(text)
    })
    expect(open.map((option) => option.getFullName())).toEqual([])
  })
})
