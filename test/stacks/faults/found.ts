import { fileURLToPath } from 'node:url'
import jwt from 'jsonwebtoken'
import { cli } from '../../support/cli.js'
import { listen } from '../../support/http.js'
import { type Api, appOf, soundApi, USER } from './api.js'
import type { Plant } from './plants.js'

const MAPPING = fileURLToPath(new URL('mapping.json', import.meta.url))

/** Checks an API with a fault, next to another environment of it. Returns the rows that fail. */
export async function failingWith(plant: Plant['plant'] = () => ({})): Promise<string[]> {
  const here = planted(plant, 'https://api.example.com')
  const there = planted(plant, 'https://sandbox.example.com')
  const [{ url }, { url: other }] = [await listen(appOf(here)), await listen(appOf(there))]
  const expired = jwt.sign({ sub: USER.id, iss: here.issuer, exp: 1_600_000_000 }, here.secret)
  const args = [
    'check',
    url,
    '--email',
    USER.email,
    '--mapping',
    MAPPING,
    '--other',
    other,
    '--guesses',
    '30',
    '--json',
  ]
  const { stdout, stderr } = await cli(args, { env: { CHECK_PASSWORD: USER.password, CHECK_EXPIRED_TOKEN: expired } })
  if (stderr) throw new Error(stderr)
  const { rows } = JSON.parse(stdout) as { rows: { id: string; verdict: string }[] }
  return rows.filter(({ verdict }) => verdict === 'fails').map(({ id }) => id)
}

function planted(plant: Plant['plant'], issuer: string): Api {
  const api = soundApi(issuer)
  return Object.assign(api, plant({ ...api }))
}
