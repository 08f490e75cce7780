import request from 'supertest'
import { expect, it } from 'vitest'
import { signIn, startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

it('other-site: gives the cookie to the page of another site, and only to it', async () => {
  const { app } = await run('other-site')
  const page = 'https://app.example.net'
  const { headers } = await signIn(app).set('Origin', page).expect(200)
  expect(headers).toMatchObject({
    'access-control-allow-origin': page,
    'access-control-allow-credentials': 'true',
    'set-cookie': [expect.stringMatching(/; SameSite=None; Partitioned$/)],
  })
  const refresh = (origin: string) =>
    request(app)
      .post(`${TOKEN_PATH}/refresh`)
      .set({ Origin: origin, Cookie: headers['set-cookie']?.[0] ?? '' })
  await refresh('https://evil.example').expect(403)
  await refresh(page).expect(200)
})
