import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Rules that only Spectral recommends. */
const MORE = { 'info-contact': 'error', 'operation-description': 'error', 'operation-tag-defined': 'error' } as const

/** Returns the complaints of Redocly's linter about an OpenAPI document. */
export async function complaintsOf(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: MORE })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
}
