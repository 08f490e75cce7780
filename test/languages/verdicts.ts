import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Program } from './libraries.js'
import { app } from './tokens.js'

const run = promisify(execFile)

/** The verdict of a program on one token. */
export interface Verdict {
  accepted: boolean
  sub?: string
  scope?: string
  /** The error of a refusal. */
  why?: string
}

const CERTIFICATE = [
  ...['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-days', '2'],
  ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', 'key.pem', '-out', 'cert.pem'],
]

/** Serves the app by https, because some libraries fetch keys by https only. The programs trust its certificate. */
export async function startIssuer() {
  const folder = await mkdtemp(join(tmpdir(), 'languages-'))
  await run('openssl', CERTIFICATE, { cwd: folder })
  const certificate = join(folder, 'cert.pem')
  const server = createServer({ key: await readFile(join(folder, 'key.pem')), cert: await readFile(certificate) }, app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    ...process.env,
    JWKS_URL: `https://127.0.0.1:${port}/.well-known/jwks.json`,
    NODE_EXTRA_CA_CERTS: certificate, // Node
    SSL_CERT_FILE: certificate, // Python, Ruby, Perl and Go
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
  return {
    env,
    async stop() {
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Runs a program with some tokens, and returns its verdict on each of them. */
export async function verdictsOf(
  { command, folder }: Program,
  tokens: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, Verdict>> {
  const names = Object.keys(tokens)
  const [runtime = '', ...args] = command
  const running = run(runtime, args, { cwd: folder, env })
  running.child.stdin?.end(
    Object.values(tokens)
      .map((token) => `${JSON.stringify({ token })}\n`)
      .join(''),
  )
  const lines = (await running).stdout.trim().split('\n')
  if (lines.length !== names.length) throw new Error(`${args.join(' ')} printed ${lines.length} verdicts`)
  return Object.fromEntries(lines.map((text, at) => [names[at], JSON.parse(text)]))
}
