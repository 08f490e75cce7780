import { createHash, type KeyObject } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { PAIRS } from '../../../src/tokens/algorithms/algorithms.js'

/*
 * Fake clients of key services, with the members that docs/guides/keys.md uses. Each client checks a call, signs and fails as the
 * documentation of its service says.
 */

/** The one key of all services. */
const { privateKey, publicKey } = PAIRS.ES256.generate(0)
const jwk = (key: KeyObject) => key.export({ format: 'jwk' }) as { d: string; x: string; y: string }
const bytesOf = (member: 'd' | 'x' | 'y') => Buffer.from(jwk(privateKey)[member], 'base64url')
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string

/** The behaviour of all services, and the calls that are under way. */
export const services = {
  mood: 'works' as 'works' | 'throttles' | 'is silent',
  pending: 0,
  /** Called when a call arrives. */
  onCall: () => {},
}

/** Time that a silent service needs. */
export const SILENCE_MS = 10_000

/**
 * Responds like a service, unless the client's own time limit is over before.
 * @param failures the errors of the client. `ended` comes after its own time limit
 */
async function respond<T>(
  { throttled, ended }: { throttled: object; ended?: object },
  signal: AbortSignal | undefined,
  result: () => T,
): Promise<T> {
  services.pending++
  services.onCall()
  try {
    if (services.mood === 'throttles') throw Object.assign(new Error(), throttled)
    if (services.mood === 'is silent') {
      await new Promise((resolve, reject) => {
        setTimeout(resolve, SILENCE_MS)
        signal?.addEventListener('abort', () => reject(Object.assign(new Error(), ended)))
      })
    }
    return result()
  } finally {
    services.pending--
  }
}

const hash = (data: Uint8Array) => createHash('sha256').update(data).digest()

/** Signs a digest, which Node cannot: it always hashes. */
function signatureOf(digest: Uint8Array, format: 'compact' | 'der' = 'compact'): Buffer {
  if (digest.length !== 32) throw new RangeError(`the digest has ${digest.length} bytes`)
  return Buffer.from(p256.sign(digest, bytesOf('d'), { prehash: false, format }))
}

// @aws-sdk/client-kms: https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html

class Command<T> {
  readonly input: T
  constructor(input: T) {
    this.input = input
  }
}
type AwsMessage = { Message: Uint8Array; MessageType: 'RAW' | 'DIGEST' }
export class SignCommand extends Command<{ KeyId: string; SigningAlgorithm: 'ECDSA_SHA_256' } & AwsMessage> {}
export class GetPublicKeyCommand extends Command<{ KeyId: string }> {}

const AWS = {
  throttled: { name: 'ThrottlingException', $fault: 'client', $metadata: { httpStatusCode: 400 } },
  ended: { name: 'AbortError', message: 'Request aborted' },
}

export class KMSClient {
  async send(
    { input }: SignCommand | GetPublicKeyCommand,
    options: { abortSignal?: AbortSignal } = {},
  ): Promise<{ PublicKey?: Uint8Array; Signature?: Uint8Array }> {
    if (!('Message' in input)) return { PublicKey: publicKey.export({ type: 'spki', format: 'der' }) }
    const { Message, MessageType } = input
    if (Message.length > 4096) throw new RangeError('ValidationException')
    const digest = MessageType === 'DIGEST' ? Message : hash(Message)
    return respond(AWS, options.abortSignal, () => ({ Signature: signatureOf(digest, 'der') }))
  }
}

// @google-cloud/kms: https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys.cryptoKeyVersions/asymmetricSign

const GOOGLE = {
  throttled: { code: 8, message: '8 RESOURCE_EXHAUSTED: Quota exceeded for quota metric' },
  ended: { code: 4, message: '4 DEADLINE_EXCEEDED: Deadline exceeded' },
}

export class KeyManagementServiceClient {
  cryptoKeyVersionPath(...[project, location, ring, key, version]: [string, string, string, string, string]): string {
    return `projects/${project}/locations/${location}/keyRings/${ring}/cryptoKeys/${key}/cryptoKeyVersions/${version}`
  }
  async getPublicKey(_: { name: string }): Promise<[{ pem?: string | null }]> {
    return [{ pem }]
  }
  async asymmetricSign(
    { digest }: { name: string; digest: { sha256: Uint8Array } },
    { timeout = 60_000 }: { timeout?: number } = {},
  ): Promise<[{ signature?: Uint8Array | string | null }]> {
    const signature = () => signatureOf(digest.sha256, 'der')
    return respond(GOOGLE, AbortSignal.timeout(timeout), () => [{ signature: signature() }])
  }
}

// @azure/keyvault-keys: https://learn.microsoft.com/en-us/rest/api/keyvault/keys/sign/sign

const AZURE = {
  throttled: { name: 'RestError', code: 'Throttled', statusCode: 429 },
  ended: { name: 'AbortError', message: 'The operation was aborted.' },
}

interface AzureKey {
  key?: { kty?: string; crv?: string; x?: Uint8Array; y?: Uint8Array }
}

export class DefaultAzureCredential {
  readonly kind = 'default'
}

export class KeyClient {
  // biome-ignore lint/complexity/noUselessConstructor: the arguments of the real client
  constructor(_vaultUrl: string, _credential: DefaultAzureCredential) {}
  async getKey(_name: string, _options?: { version?: string }): Promise<AzureKey> {
    return { key: { kty: 'EC', crv: 'P-256', x: bytesOf('x'), y: bytesOf('y') } }
  }
}

export class CryptographyClient {
  // biome-ignore lint/complexity/noUselessConstructor: the arguments of the real client
  constructor(_key: AzureKey, _credential: DefaultAzureCredential) {}
  async sign(
    _algorithm: 'ES256',
    digest: Uint8Array,
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ): Promise<{ result: Uint8Array }> {
    return respond(AZURE, abortSignal, () => ({ result: signatureOf(digest) }))
  }
}

// Vault: https://developer.hashicorp.com/vault/api-docs/secret/transit#sign-data

const VAULT = { throttled: { status: 429 }, ended: { name: 'TimeoutError' } }

/** Takes the place of the global `fetch` in the block of Vault. A quota of Vault responds with 429. */
export async function fetch(url: string, init: RequestInit): Promise<Response> {
  const { pathname } = new URL(url)
  const json = (status: number, body: object) => new Response(JSON.stringify(body), { status })
  if (init.method === 'GET') return json(200, { data: { keys: { 1: { public_key: pem } }, latest_version: 1 } })
  if (pathname !== '/v1/transit/sign/tokens/sha2-256') return json(404, { errors: ['unsupported path'] })
  const { input, marshaling_algorithm: form = 'asn1' } = JSON.parse(String(init.body))
  const digest = hash(Buffer.from(input, 'base64'))
  const signature =
    form === 'jws' ? signatureOf(digest).toString('base64url') : signatureOf(digest, 'der').toString('base64')
  const signed = () => json(200, { data: { signature: `vault:v1:${signature}` } })
  return respond(VAULT, init.signal ?? undefined, signed).catch((failure) => {
    if (failure.status === 429) return json(429, { errors: ['rate limit quota exceeded'] })
    throw failure
  })
}

// pkcs11js: https://docs.oasis-open.org/pkcs11/pkcs11-curr/v2.40/os/pkcs11-curr-v2.40-os.html section 2.3.6

const HSM = { throttled: { name: 'Pkcs11Error', message: 'CKR_DEVICE_ERROR', code: 0x30 } }

export class PKCS11 {
  readonly #sessions = new Map<Buffer, 'idle' | 'ready' | 'active'>()
  #assert(session: Buffer, state: 'idle' | 'ready'): void {
    if (this.#sessions.get(session) !== state) throw new Error(`CKR_OPERATION: not ${state}`)
  }
  get sessions(): number {
    return this.#sessions.size
  }
  C_OpenSession(_slot: Buffer, _flags: number): Buffer {
    const session = Buffer.alloc(8)
    this.#sessions.set(session, 'idle')
    return session
  }
  C_CloseSession(session: Buffer): void {
    this.#sessions.delete(session)
  }
  C_GetAttributeValue(_session: Buffer, _object: Buffer, _template: { type: number }[]): { value: Buffer }[] {
    return [{ value: Buffer.concat([Buffer.of(0x04, 65, 0x04), bytesOf('x'), bytesOf('y')]) }]
  }
  C_SignInit(session: Buffer, _mechanism: { mechanism: number }, _key: Buffer): void {
    this.#assert(session, 'idle')
    this.#sessions.set(session, 'ready')
  }
  async C_SignAsync(session: Buffer, digest: Buffer, output: Buffer): Promise<Buffer> {
    this.#assert(session, 'ready')
    this.#sessions.set(session, 'active')
    return respond(HSM, undefined, () => output.subarray(0, signatureOf(digest).copy(output)))
  }
}

export default { PKCS11, CKA_EC_POINT: 0x181, CKF_SERIAL_SESSION: 4, CKM_ECDSA: 0x1041 }

/** An HSM whose reader has logged in, and its objects. */
export const hsm = new PKCS11()
export const objects = {
  ...{ slot: Buffer.alloc(8), session: Buffer.alloc(8) },
  ...{ privateObject: Buffer.from('private'), publicObject: Buffer.from('public') },
}
