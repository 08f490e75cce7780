import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { ENTRIES } from '../../support/documents/repository.js'
import { apiReports, DIST, REPORTS } from './api-reports.mjs'

it('the reports are the public types', () => {
  const files = readdirSync(REPORTS).filter((file) => file.endsWith('.api.md'))
  const accepted = files.map((file) => [file, readFileSync(REPORTS + file, 'utf8')])
  const how = 'The public types changed. To accept the change, run npm run api:report and commit what it writes.'
  expect(Object.fromEntries(accepted), how).toEqual(Object.fromEntries(apiReports()))
})

const program = ts.createProgram(
  ENTRIES.map((entry) => `${DIST}${entry}.d.cts`),
  { module: ts.ModuleKind.NodeNext, noLib: true, types: [] },
)
const checker = program.getTypeChecker()

it.each(ENTRIES)('%s declares the values that it exports', async (entry) => {
  const file = program.getSourceFile(`${DIST}${entry}.d.cts`)
  const module = file && checker.getSymbolAtLocation(file)
  const isValue = (one: ts.Symbol) =>
    (one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one).flags & ts.SymbolFlags.Value
  const values = module ? checker.getExportsOfModule(module).filter(isValue) : []
  const exported = await import(/* @vite-ignore */ `../../../src/${entry}.js`)
  expect(Object.keys(exported).sort()).toEqual(values.map(({ name }) => name).sort())
})
