import { ApolloServer, HeaderMap } from '@apollo/server'
import { expressMiddleware } from '@as-integrations/express5'
import express from 'express'
import { AuthError } from 'express-token-endpoint'
import { GraphQLError } from 'graphql'

const typeDefs = 'type Query { account: String! }'
const resolvers = { Query: { account: (_parent, _args, { auth }) => auth.accountId } }

/** Turns a refusal into an error whose status and headers Apollo sends. */
function graphQlError(error) {
  if (!(error instanceof AuthError)) return error
  const { code, status, headers, message } = error
  const http = {
    status,
    headers: new HeaderMap(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  }
  return new GraphQLError(message, { extensions: { code, http } })
}

export async function withContext({ router, guard }) {
  const server = new ApolloServer({
    typeDefs,
    resolvers,
    csrfPrevention: false,
    includeStacktraceInErrorResponses: false,
  })
  await server.start()
  const context = async ({ req }) => {
    try {
      return { auth: await guard.authenticate(req) }
    } catch (error) {
      throw graphQlError(error)
    }
  }
  const app = express().use(router).use('/graphql', express.json(), expressMiddleware(server, { context }))
  return { app, close: () => server.stop() }
}
