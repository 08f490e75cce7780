import { createServer, IncomingMessage, ServerResponse } from 'node:http'

/** Creates the class of the recipe: its objects have the prototype that Express sets on every request. */
function withPrototype(base, prototype) {
  function Message(...args) {
    Reflect.apply(base, this, args)
  }
  Message.prototype = prototype
  return Object.setPrototypeOf(Message, base)
}

/** Creates a server as in docs/guides/faster-express.md. */
export const fastServer = (app) =>
  createServer(
    {
      IncomingMessage: withPrototype(IncomingMessage, app.request),
      ServerResponse: withPrototype(ServerResponse, app.response),
    },
    app,
  )
