export { type OpenApiOptions, openApiDocument } from './openapi/document.js'
export { type GuardAnswers, type GuardedOperationOptions, guardedOperation } from './openapi/guarded-operation.js'
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
