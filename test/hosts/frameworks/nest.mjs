import 'reflect-metadata'
import { Catch, Controller, Get, HttpException, Module, Req, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AuthError } from 'express-token-endpoint'

/** Applies a decorator to a method, as TypeScript does. */
function decorate(target, name, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name)
  for (const decorator of decorators.reverse()) decorator(target.prototype, name, descriptor)
}

async function create({ router }, definition, setUp = () => {}) {
  class App {}
  Module(definition)(App)
  const app = await NestFactory.create(App, { logger: false })
  app.use(router)
  setUp(app)
  await app.listen(0, '127.0.0.1')
  return { url: await app.getUrl(), close: () => app.close() }
}

function makeController(kit, ...decorators) {
  class Reports {
    reports(req) {
      return { account: kit.authOf(req).accountId }
    }
  }
  Controller()(Reports)
  decorate(Reports, 'reports', Get('reports'), ...decorators)
  Req()(Reports.prototype, 'reports', 0)
  return Reports
}

/** A guard of Nest, which throws Nest's own exception. */
export function withCanActivate(kit) {
  class BearerGuard {
    async canActivate(context) {
      const http = context.switchToHttp()
      try {
        return Boolean(await kit.guard.authenticate(http.getRequest()))
      } catch (error) {
        if (!(error instanceof AuthError)) throw error
        http.getResponse().set(error.headers)
        throw new HttpException(error.toProblem(), error.status)
      }
    }
  }
  return create(kit, { controllers: [makeController(kit, UseGuards(BearerGuard))] })
}

function makeFilter() {
  class Refusals {
    catch(error, host) {
      host.switchToHttp().getResponse().status(error.status).set(error.headers).json(error.toProblem())
    }
  }
  Catch(AuthError)(Refusals)
  return new Refusals()
}

/** A guard of Nest that throws the AuthError, and a filter of the app. */
export function withFilter(kit) {
  class BearerGuard {
    async canActivate(context) {
      return Boolean(await kit.guard.authenticate(context.switchToHttp().getRequest()))
    }
  }
  return create(kit, { controllers: [makeController(kit, UseGuards(BearerGuard))] }, (app) =>
    app.useGlobalFilters(makeFilter()),
  )
}

/** Nest mounts the middleware for a controller. */
function createWithMiddleware(kit, middleware, setUp) {
  const controller = makeController(kit)
  class Feature {
    configure(consumer) {
      consumer.apply(middleware).forRoutes(controller)
    }
  }
  Module({ controllers: [controller] })(Feature)
  return create(kit, { imports: [Feature] }, setUp)
}

export const withMiddleware = (kit) => createWithMiddleware(kit, kit.guard)

/** The middleware whose `refuse` calls `next`: a filter of the app receives each refusal. */
export const withForwardedErrors = (kit) =>
  createWithMiddleware(kit, kit.forwarding, (app) => app.useGlobalFilters(makeFilter()))
