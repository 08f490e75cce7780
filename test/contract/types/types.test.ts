import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type ts from 'typescript'
import { afterAll, expect, it } from 'vitest'
import { strictest, typeErrors } from '../../support/documents/compiler.js'
import { readPage } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'

/** `strict` and nothing more, as most hosts have it. */
const strict: ts.CompilerOptions = {
  ...strictest,
  exactOptionalPropertyTypes: false,
  noUncheckedIndexedAccess: false,
  noPropertyAccessFromIndexSignature: false,
}

/** A host sees the package's declarations, not its code. */
const paths = {
  'express-token-endpoint': [`${root}dist/index.d.ts`],
  'express-token-endpoint/express': [`${root}dist/express.d.ts`],
}

/** A file in this folder sees what is installed here. */
await mkdir(`${root}node_modules/.cache`, { recursive: true })
const folder = await mkdtemp(`${root}node_modules/.cache/types-`)
afterAll(() => rm(folder, { recursive: true, force: true }))

const problems = (files: readonly string[], options: ts.CompilerOptions) =>
  typeErrors(
    files.map((file) => (file.startsWith(root) ? file : `${root}test/contract/types/${file}`)),
    { ...options, paths },
  )

// With the strictest options `npm test` reads the first two as well; what a host declares, all others would see.
it.each([
  ['options, requests and models, under strict', ['options.ts', 'own-model.ts', 'request.ts'], strict],
  ['a host with Passport and users of its own, under the strictest options', ['hosts/own-user.ts'], strictest],
  ['a host with express-oauth2-jwt-bearer, under the strictest options', ['hosts/other-bearer.ts'], strictest],
  ['a host with its own req.auth, under the strictest options', ['hosts/own-auth.ts'], strictest],
])('the compiler takes what is right, and nothing that is marked as wrong: %s', (_, files, options) => {
  expect(problems(files, options)).toBe('')
})

/** A host without Passport's types, which reads `req.user`. */
const READS_USER = `
import express from 'express'
import { type AccountStore, createTokenVerifier, requireBearer } from 'express-token-endpoint'
declare const accounts: Required<AccountStore>
const tokens = createTokenVerifier({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'text' } })
express().get('/', requireBearer({ tokens, accounts }), (req, res) => {
  const scopes: readonly string[] = req.user?.scopes ?? []
  // @ts-expect-error -- the guard takes it out
  req.user?.passwordHash
  const plan: string | undefined = req.user?.plan
  res.json({ id: req.user?.id, scopes, plan })
})
`

it.each([
  ['without Passport, under strict', '', strict],
  ['without Passport, under the strictest options', '', strictest],
  ['with Passport, under strict', "import 'passport'", strict],
  ['with Passport, under the strictest options', "import 'passport'", strictest],
])("the page's declaration of req.user compiles: a host %s", async (what, passport, options) => {
  const { blocks } = readPage('docs/guides/mount-and-guard.md')
  const declaration = blocks.find((block) => block.name === 'account-user')?.code
  const name = what.replace(/\W+/g, '-')
  const [user, reads] = [`${folder}/${name}-user.ts`, `${folder}/${name}.ts`]
  await writeFile(user, `${passport}\n${declaration}`)
  await writeFile(reads, READS_USER)
  expect(problems([user, reads], options)).toBe('')
  // Passport's types would declare it too.
  if (passport) return
  expect(problems([reads], options)).toContain("Property 'user' does not exist")
})
