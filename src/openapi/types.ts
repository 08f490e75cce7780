/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export interface Schema {
  [keyword: string]: unknown
}

export interface Reference {
  $ref: string
}

export interface Header {
  description: string
  required?: boolean
  schema: Schema
}

export interface Example {
  summary?: string
  value: unknown
}

export interface MediaType {
  schema: Schema
  example?: unknown
  examples?: Record<string, Example>
}

export interface Response {
  description: string
  headers?: Record<string, Header>
  content?: Record<string, MediaType>
}

/** Answers by status code. */
export type Responses = Record<string, Response | Reference>

/** Names of schemes, each with the scopes that are needed (OpenAPI 3.1, section 4.8.30). */
export type SecurityRequirement = Record<string, string[]>

export interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  security?: SecurityRequirement[]
  parameters?: unknown[]
  requestBody?: { required?: boolean; content: Record<string, MediaType> } | Reference
  responses: Responses
  [member: string]: unknown
}

export interface PathItem {
  get?: Operation
  put?: Operation
  post?: Operation
  delete?: Operation
  options?: Operation
  head?: Operation
  patch?: Operation
  trace?: Operation
  [member: string]: unknown
}

export interface SecurityScheme {
  type: string
  [member: string]: unknown
}

/** An OpenAPI 3.1 document: plain JSON, to be added to. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; [member: string]: unknown }
  servers?: { url: string; description?: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, PathItem>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    securitySchemes: Record<string, SecurityScheme>
  }
  [member: string]: unknown
}
