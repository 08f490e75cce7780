import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument, Response } from 'express-token-endpoint/openapi'
import { expect } from 'vitest'
import { type Mounted, pathsBelow } from '../../../src/http/endpoint.js'
import type { Answer as WholeAnswer } from '../host.js'

type Answer = Pick<WholeAnswer, 'status' | 'headers' | 'body'>

/** Headers that Node and Express add to each response. */
const TRANSPORT = /^(date|connection|keep-alive|content-length|content-type|transfer-encoding|x-powered-by)$/

/** A JSON pointer (RFC 6901) as a URI fragment. */
const pointer = (...keys: string[]) =>
  `#${keys.map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`

/** Returns the text of `invalid_body` that a document names for an endpoint. */
export function invalidBodyIn({ paths }: OpenApiDocument, { at, endpoint }: Pick<Mounted, 'at' | 'endpoint'>) {
  const operation = paths[pathsBelow(at, endpoint.path)[0]]?.[endpoint.method.toLowerCase() as 'post']
  const { description = '' } = (operation?.responses['400'] ?? {}) as Partial<Response>
  return /`invalid_body`: (.*)/.exec(description)?.[1]
}

/**
 * Checks responses against a document. Each response must be documented, and in the end each documented response must have occurred.
 * @param moreHeaders allows headers that the document does not name
 */
export function documented(document: OpenApiDocument, { moreHeaders = false } = {}) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'document')
  const seen = new Set<string>()

  /** Validates a value against the schema at a pointer in the document. Members that the schema does not name are invalid. */
  function expectValid(value: unknown, place: string, what: string): void {
    const validate = ajv.compile({ $ref: `document${place}`, unevaluatedProperties: false })
    expect(validate(value) || validate.errors, `${what}: ${JSON.stringify(value)}`).toBe(true)
  }

  function responseOf(path: string, method: string, status: string): { response: Response; place: string[] } {
    const response = document.paths[path]?.[method as 'get']?.responses[status]
    if (!response) throw new Error(`not documented: ${method} ${path} ${status}`)
    if (!('$ref' in response)) return { response, place: ['paths', path, method, 'responses', status] }
    const name = response.$ref.replace('#/components/responses/', '')
    return { response: document.components.responses[name] as Response, place: ['components', 'responses', name] }
  }

  function checkHeaders(answer: Answer, response: Response, place: string[], what: string): void {
    const rows = Object.entries(response.headers ?? {})
    for (const [name, row] of rows) {
      const value = answer.headers[name.toLowerCase()]
      if (value === undefined) {
        expect(row.required, `${what}: ${name} is not there`).not.toBe(true)
        continue
      }
      const read = row.schema['type'] === 'integer' ? Number(value) : value
      expectValid(read, pointer(...place, 'headers', name, 'schema'), `${what}: ${name}`)
    }
    if (moreHeaders) return
    const known = rows.map(([name]) => name.toLowerCase())
    const others = Object.keys(answer.headers).filter((name) => !TRANSPORT.test(name) && !known.includes(name))
    expect(others, `${what}: headers that are not documented`).toEqual([])
  }

  return {
    /**
     * Fails when a response does not match the document.
     * @param method the method of the documented operation
     * @param bodiless whether the request was a HEAD
     */
    check(path: string, method: string, answer: Answer, bodiless = false): void {
      const what = `${method} ${path} ${answer.status}`
      const { response, place } = responseOf(path, method, String(answer.status))
      checkHeaders(answer, response, place, what)
      const type = answer.headers['content-type']?.replace(/;.*/, '')
      expect(Object.keys(response.content ?? { nothing: 0 }), what).toContain(type ?? 'nothing')
      if (type === undefined || bodiless) {
        expect(answer.body, what).toBe('')
        if (!bodiless) seen.add(what)
        return
      }
      const body: { code?: string } = JSON.parse(answer.body)
      expectValid(body, pointer(...place, 'content', type, 'schema'), what)
      seen.add([what, type, ...(body.code ? [body.code] : [])].join(' '))
    },

    /** Fails unless each documented response occurred with each of its codes. */
    expectAllSeen(): void {
      const all = Object.entries(document.paths).flatMap(([path, item]) =>
        Object.entries(item).flatMap(([method, operation]) =>
          Object.keys((operation as { responses: object }).responses).flatMap((status) => {
            const { content } = responseOf(path, method, status).response
            const what = `${method} ${path} ${status}`
            return content
              ? Object.entries(content).flatMap(([type, { schema }]) => {
                  const { code } = (schema['properties'] ?? {}) as { code?: { enum: string[] } }
                  return (code?.enum ?? ['']).map((one) => `${what} ${type} ${one}`.trim())
                })
              : [what]
          }),
        ),
      )
      expect([...seen].sort()).toEqual(all.sort())
    },
  }
}
