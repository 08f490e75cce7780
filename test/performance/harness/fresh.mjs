import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inRounds } from './statistics.mjs'

const SETTINGS = "{ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'secret k'.repeat(4) } }"

/** Code of the programs that run in new processes. */
export const PACKAGE =
  "const { createTokenIssuer, createTokenVerifier, requireBearer, tokenRouter } = await import('express-token-endpoint')"
export const VERIFIER = `${PACKAGE}; globalThis.guard = requireBearer({ tokens: createTokenVerifier(${SETTINGS}) })`
export const APP = "globalThis.app = (await import('express')).default()"
export const ENDPOINT = `${APP}; ${PACKAGE}
  const tokens = createTokenIssuer(${SETTINGS})
  globalThis.app.use(tokenRouter({ tokens, accounts: () => null }), requireBearer({ tokens }))`

/**
 * Runs each variant's code in new processes, alternately.
 * @param programOf variant → the text of a module that prints JSON
 * @returns the rounds, each with the printed values by the names of the variants
 */
export function inNewProcesses({ node, rounds, variants, programOf }) {
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  return inRounds(rounds, variants, async (variant) => {
    const args = ['--expose-gc', '--input-type=module', '--eval', programOf(variant)]
    return JSON.parse((await promisify(execFile)(node, args, { cwd })).stdout)
  })
}
