import type { Contexts } from '../../../../support/documents/examples.js'
import { HOST } from './host.js'

export const ROUTES: Contexts = {
  mount: '',
  guard: '',
  'guard-mount': '',
  'account-user': '',
  scopes: HOST,
  'step-up': HOST,
  environments: `${HOST}
    const [live, sandbox] = [accounts, accounts]`,
  proxy: `${HOST}
    export const lines: string[] = []
    const log = { info: (line: string) => lines.push(line) }`,
  cors: HOST,
  openapi: '',
}
