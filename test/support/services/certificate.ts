import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const REQUEST = ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-days', '2']
const FILES = ['-subj', '/CN=test', '-keyout', 'key.pem', '-out', 'cert.pem']

/**
 * Creates a certificate for loopback with OpenSSL.
 * @param names Like `'IP:127.0.0.1'`, or `'DNS:a.test,DNS:b.test'`
 */
export async function createCertificate(names: string) {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'))
  await promisify(execFile)('openssl', [...REQUEST, '-addext', `subjectAltName=${names}`, ...FILES], { cwd: folder })
  const file = join(folder, 'cert.pem')
  const [key, cert] = [await readFile(join(folder, 'key.pem')), await readFile(file)]
  return { key, cert, file, remove: () => rm(folder, { recursive: true }) }
}
