import type express from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { START } from './contexts/start.js'

const { run } = startExamples(import.meta.url, START)

describe('the first page', () => {
  it('quick-start: gives a token and lets it through', async () => {
    const { app } = await run<{ app: express.Express }>('quick-start')
    const login = await request(app)
      .post(TOKEN_PATH)
      .type('form')
      .send({ email: 'alice@example.com', password: 'secret' })
    expect(login.status).toBe(200)
    const { body } = await request(app)
      .get('/statements')
      .auth(login.body.authenticationToken, { type: 'bearer' })
      .expect(200)
    expect(body).toEqual({ account: 'acc-1' })
    await request(app).get('/statements').expect(401)
  })
})
