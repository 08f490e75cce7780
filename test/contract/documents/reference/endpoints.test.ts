import { expect, it } from 'vitest'
import { REFUSALS } from '../../../../src/errors/codes.js'
import { endpointsAt } from '../../../../src/features/features.js'
import { codesOf, successesOf } from '../../../../src/http/declaration.js'
import { methodsOf, pathsBelow } from '../../../../src/http/endpoint.js'
import { readPage } from '../../../support/documents/pages.js'

/** The paths as the page names them. */
const PATHS = { token: '{path}', sessions: '/sessions', keys: '/.well-known/jwks.json' }
const MOUNTED = endpointsAt(PATHS, { signIn: true, refresh: true, keys: true, sessions: true })

/** Returns the row of each endpoint: its request, whether it needs a token, and its responses with their codes. */
const rows = MOUNTED.map(({ at, endpoint }) => {
  const request = methodsOf([endpoint]).map((method) => `\`${method}\``)
  const codes = [...codesOf(endpoint)].filter((code) => code !== 'method_not_allowed' && !REFUSALS[code].unseen)
  const refusals = codes.map((code) => `\`${code}\``).sort()
  return [
    `${request.join(', ')} \`${pathsBelow(at, endpoint.path)[0]}\``,
    endpoint.guard ? 'yes' : 'no',
    successesOf(endpoint)
      .map(([status]) => `\`${status}\``)
      .join(', '),
    refusals.join(', ') || '–',
  ]
})

it('the table of endpoints is that of their declarations', () => {
  const table = readPage('docs/reference/http.md').tableIn('## 4. Methods and paths')
  const text = rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
  expect(table.slice(-rows.length), `Write these rows into docs/reference/http.md:\n${text}`).toEqual(rows)
  expect(table.length, 'rows without an endpoint').toBeLessThanOrEqual(rows.length + 1)
})
