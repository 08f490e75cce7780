import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/** Returns classes for `createServer`. Their objects already have the prototypes that Express sets on every request. */
export const messageClasses = ({ request, response }: Express) => ({
  IncomingMessage: withPrototype(IncomingMessage, request),
  ServerResponse: withPrototype(ServerResponse, response),
})

function withPrototype<T extends typeof IncomingMessage | typeof ServerResponse>(base: T, prototype: object): T {
  function Message(this: object, ...args: unknown[]) {
    Reflect.apply(base, this, args)
  }
  Message.prototype = prototype
  return Object.setPrototypeOf(Message, base) // without this link, V8 stores the properties in slow dictionaries
}
