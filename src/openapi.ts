export { openApiDocument } from './openapi/document.js'
export type { OpenApiOptions } from './openapi/document-options.js'
export { type GuardedOperationOptions, type GuardResponses, guardedOperation } from './openapi/guarded-operation.js'
export type {
  Components,
  Example,
  Header,
  Info,
  MediaType,
  Method,
  OpenApiDocument,
  Operation,
  PathItem,
  Reference,
  RequestBody,
  Response,
  Responses,
  Schema,
  SecurityRequirement,
  SecurityScheme,
  Server,
  Tag,
} from './openapi/types.js'
