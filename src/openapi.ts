export { type OpenApiOptions, openApiDocument } from './openapi/document.js'
export { type GuardedOperationOptions, guardedOperation } from './openapi/guarded-operation.js'
export type {
  Example,
  Header,
  MediaType,
  OpenApiDocument,
  Operation,
  PathItem,
  Reference,
  Response,
  Responses,
  Schema,
  SecurityRequirement,
  SecurityScheme,
} from './openapi/types.js'
