import type { Schema } from '../http/declaration.js'

export type { Schema }

/** A reference to another part of the document (OpenAPI 3.1, section 4.8.23). */
export interface Reference {
  /** The location of the other part, like `#/components/responses/Bearer401`. */
  $ref: string
  /** Replaces the description of the other part (OpenAPI 3.1, section 4.8.23). */
  description?: string
}

/** A response header (OpenAPI 3.1, section 4.8.21). */
export interface Header {
  /** The meaning of the header. */
  description: string
  /** True when every such response has the header. Default false. */
  required?: boolean
  /** The schema of the value. */
  schema: Schema
}

/** An example value (OpenAPI 3.1, section 4.8.19). */
export interface Example {
  /** A short description of the example. */
  summary?: string
  /** The value itself. */
  value: unknown
}

/** A body in one media type (OpenAPI 3.1, section 4.8.14). It has one example, several named examples, or none. */
export interface MediaType {
  /** The schema of the body. */
  schema: Schema
  /** An example body. */
  example?: unknown
  /** Example bodies, by name. */
  examples?: Record<string, Example>
}

/** A response (OpenAPI 3.1, section 4.8.17). */
export interface Response {
  /** The meaning of the response. */
  description: string
  /** The headers, by name. */
  headers?: Record<string, Header>
  /** The body, by media type. Absent for a response without a body. */
  content?: Record<string, MediaType>
}

/** Responses by status code (OpenAPI 3.1, section 4.8.16). */
export type Responses = Record<string, Response | Reference>

/** Names of security schemes, each with the required scopes (OpenAPI 3.1, section 4.8.30). */
export type SecurityRequirement = Record<string, string[]>

/** A request's body, by media type (OpenAPI 3.1, section 4.8.13). */
export interface RequestBody {
  /** True when a request must have a body. Default false. */
  required?: boolean
  /** The accepted media types. */
  content: Record<string, MediaType>
}

/** An operation: one method of a path (OpenAPI 3.1, section 4.8.10). Members that are not listed here remain unchanged. */
export interface Operation {
  /** The operation's name for generated clients. Unique in the document. */
  operationId?: string
  /** A short summary of the operation. */
  summary?: string
  /** A longer description of the operation, in CommonMark. */
  description?: string
  /** The groups that contain the operation. */
  tags?: string[]
  /** Alternative security requirements. An empty list requires nothing. */
  security?: SecurityRequirement[]
  /** Parameters in path, query and headers (OpenAPI 3.1, section 4.8.12). */
  parameters?: unknown[]
  /** The request body. */
  requestBody?: RequestBody | Reference
  /** The responses of the operation. */
  responses: Responses
  [member: string]: unknown
}

/** The methods that a path can have an operation for. */
export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch' | 'trace'

/** A path's operations by method, and other members of the path (OpenAPI 3.1, section 4.8.9). */
export type PathItem = { [method in Method]?: Operation } & { [member: string]: unknown }

/** A way to authenticate (OpenAPI 3.1, section 4.8.27). */
export interface SecurityScheme {
  /** `http` for the bearer scheme, or another type for a custom scheme. */
  type: string
  [member: string]: unknown
}

/** Information about the API (OpenAPI 3.1, section 4.8.2). */
export interface Info {
  /** The API's name. */
  title: string
  /** The API's version, not OpenAPI's. */
  version: string
  [member: string]: unknown
}

/** A server of the API (OpenAPI 3.1, section 4.8.5). */
export interface Server {
  /** The base URL of the server. */
  url: string
  /** The purpose of the server. */
  description?: string
}

/** A group of operations (OpenAPI 3.1, section 4.8.22). */
export interface Tag {
  /** The name that operations list in `tags`. */
  name: string
  /** The purpose of the group. */
  description?: string
}

/** Parts of the document that references point to (OpenAPI 3.1, section 4.8.7). */
export interface Components {
  /** Schemas of bodies. */
  schemas: Record<string, Schema>
  /** Shared responses. */
  responses: Record<string, Response>
  /** Ways to authenticate. */
  securitySchemes: Record<string, SecurityScheme>
}

/** An OpenAPI 3.1 document as plain JSON. The host may add to it. */
export interface OpenApiDocument {
  /** The version of OpenAPI. */
  openapi: '3.1.0'
  /** Information about the API. */
  info: Info
  /** The servers of the API. Default: the origin that serves the document. */
  servers?: Server[]
  /** The groups of operations. */
  tags: Tag[]
  /** The operations, by path. */
  paths: Record<string, PathItem>
  /** Parts that operations refer to. */
  components: Components
  [member: string]: unknown
}
