/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it (section 4.8.24). */
export interface Schema {
  [keyword: string]: unknown
}

/** Stands for what is elsewhere in the document (OpenAPI 3.1, section 4.8.23). */
export interface Reference {
  /** Where it is, like `#/components/responses/Bearer401`. */
  $ref: string
}

/** A header of an answer (OpenAPI 3.1, section 4.8.21). */
export interface Header {
  /** What it says. */
  description: string
  /** Whether every such answer has it. Default false. */
  required?: boolean
  /** The form of its value. */
  schema: Schema
}

/** A value to show (OpenAPI 3.1, section 4.8.19). */
export interface Example {
  /** What it is an example of. */
  summary?: string
  /** The value itself. */
  value: unknown
}

/** A body in one media type (OpenAPI 3.1, section 4.8.14). It has one example, several with names, or none. */
export interface MediaType {
  /** The form of the body. */
  schema: Schema
  /** A body to show. */
  example?: unknown
  /** Bodies to show, by name. */
  examples?: Record<string, Example>
}

/** An answer (OpenAPI 3.1, section 4.8.17). */
export interface Response {
  /** When it is given. */
  description: string
  /** Its headers, by name. */
  headers?: Record<string, Header>
  /** Its body by media type; left out where it has none. */
  content?: Record<string, MediaType>
}

/** Answers by status code (OpenAPI 3.1, section 4.8.16). */
export type Responses = Record<string, Response | Reference>

/** Names of schemes, each with the scopes that are needed (OpenAPI 3.1, section 4.8.30). */
export type SecurityRequirement = Record<string, string[]>

/** A request's body, by media type (OpenAPI 3.1, section 4.8.13). */
export interface RequestBody {
  /** Whether a request must have one. Default false. */
  required?: boolean
  /** The media types that are taken. */
  content: Record<string, MediaType>
}

/** What one method of a path does (OpenAPI 3.1, section 4.8.10). Members that are not listed here are kept as they are. */
export interface Operation {
  /** Its name for generated clients; no two in a document share one. */
  operationId?: string
  /** What it does, in a few words. */
  summary?: string
  /** What it does, at length; CommonMark. */
  description?: string
  /** The groups that it is shown in. */
  tags?: string[]
  /** What it needs, each a way of its own; an empty list needs nothing. */
  security?: SecurityRequirement[]
  /** Parameters in path, query and headers (OpenAPI 3.1, section 4.8.12). */
  parameters?: unknown[]
  /** The request's body. */
  requestBody?: RequestBody | Reference
  /** Its answers. */
  responses: Responses
  [member: string]: unknown
}

/** The methods that a path can have an operation for. */
export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch' | 'trace'

/** A path's operations, by method (OpenAPI 3.1, section 4.8.9), and what else stands at the path. */
export type PathItem = { [method in Method]?: Operation } & { [member: string]: unknown }

/** How a caller shows who it is (OpenAPI 3.1, section 4.8.27). */
export interface SecurityScheme {
  /** `http` for the bearer scheme; others for schemes of your own. */
  type: string
  [member: string]: unknown
}

/** What the document is of (OpenAPI 3.1, section 4.8.2). */
export interface Info {
  /** The API's name. */
  title: string
  /** The API's version, not OpenAPI's. */
  version: string
  [member: string]: unknown
}

/** Where the API is (OpenAPI 3.1, section 4.8.5). */
export interface Server {
  /** Its base URL. */
  url: string
  /** What it is there for. */
  description?: string
}

/** A group of operations (OpenAPI 3.1, section 4.8.22). */
export interface Tag {
  /** Its name, by which operations say that they belong to it. */
  name: string
  /** What they have in common. */
  description?: string
}

/** What the rest of the document refers to (OpenAPI 3.1, section 4.8.7). */
export interface Components {
  /** Forms of bodies. */
  schemas: Record<string, Schema>
  /** Answers. */
  responses: Record<string, Response>
  /** Ways to show who one is. */
  securitySchemes: Record<string, SecurityScheme>
}

/** An OpenAPI 3.1 document: plain JSON, to be added to. */
export interface OpenApiDocument {
  /** The version of OpenAPI that it is written in. */
  openapi: '3.1.0'
  /** What it is of. */
  info: Info
  /** Where the API is. Left out: where the document is served from. */
  servers?: Server[]
  /** The groups that operations are shown in. */
  tags: Tag[]
  /** The operations, by path. */
  paths: Record<string, PathItem>
  /** What operations refer to. */
  components: Components
  [member: string]: unknown
}
