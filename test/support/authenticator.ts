import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'

/** The flags of authenticator data (WebAuthn section 6.1). */
const [UP, UV, AT] = [0x01, 0x04, 0x40]

/** The facts of a ceremony that a test may change. */
export interface Ceremony {
  origin?: string
  rpId?: string
  /** False: the authenticator did not ask for a finger, a face or a PIN. */
  isVerified?: boolean
  /** The counter that the authenticator sends. Default: one more than before, or 0 for an authenticator without one. */
  counter?: number
  challenge?: string
  /** Further members of the client data. */
  clientData?: object
  /** The user handle in base64url. Default: that of the registration. */
  userHandle?: string
}

/** The options of a registration or of a sign-in, as a server sends them. */
export interface CeremonyOptions {
  challenge: string
  rpId?: string
  rp?: { id?: string; name: string }
  user?: { id: string; name: string; displayName: string }
}

interface AuthenticatorOptions {
  origin: string
  /** False for an authenticator that always sends 0, as those that synchronise their passkeys. Default: true. */
  hasCounter?: boolean
  /** The authenticator that `save` returned. Default: a new one. */
  saved?: SavedAuthenticator
}

/** An authenticator as JSON. */
export interface SavedAuthenticator {
  privateKey: string
  credentialId: string
  handle: string
  counter: number
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()
const base64url = (data: string | Uint8Array) => Buffer.from(data).toString('base64url')

/** Encodes small integers, texts, bytes and maps in CBOR (RFC 8949). */
export function cbor(value: number | string | Uint8Array | Map<number | string, unknown>): Buffer {
  const head = (major: number, length: number) => {
    if (length < 24) return Buffer.from([(major << 5) | length])
    return length < 256
      ? Buffer.from([(major << 5) | 24, length])
      : Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
  }
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (!(value instanceof Map)) return Buffer.concat([head(2, value.length), value])
  const entries = [...value].flatMap(([key, one]) => [cbor(key), cbor(one as never)])
  return Buffer.concat([head(5, value.size), ...entries])
}

/** Returns a public key of ES256 in COSE (RFC 9053 section 7.1). */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const members = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ] as const
  return cbor(new Map<number | string, unknown>(members))
}

/** Creates an authenticator in software, with one passkey of ES256. */
export function createAuthenticator({ origin, hasCounter = true, saved }: AuthenticatorOptions) {
  const privateKey = saved
    ? createPrivateKey(saved.privateKey)
    : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const publicKey = createPublicKey(privateKey)
  const credentialId = saved ? Buffer.from(saved.credentialId, 'base64url') : randomBytes(16)
  let [handle, counter] = [saved?.handle ?? '', saved?.counter ?? 0]

  function authData(rpId: string, flags: number, { isVerified = true, counter: sent }: Ceremony, rest: Uint8Array) {
    counter = sent ?? (hasCounter ? counter + 1 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags | UP | (isVerified ? UV : 0)]), count, rest])
  }

  function clientData(type: string, options: CeremonyOptions, change: Ceremony) {
    const { origin: changed = origin, challenge = options.challenge, clientData } = change
    return Buffer.from(JSON.stringify({ type, challenge, origin: changed, crossOrigin: false, ...clientData }))
  }

  const credential = (response: object) => {
    const id = base64url(credentialId)
    return {
      id,
      rawId: id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response,
    }
  }

  return {
    id: base64url(credentialId),
    save: (): SavedAuthenticator => ({
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      credentialId: base64url(credentialId),
      handle,
      counter,
    }),
    /** Returns the credential of a registration. */
    register(
      options: CeremonyOptions,
      change: Ceremony = {},
      attestation: [string, Map<string, unknown>] = ['none', new Map()],
    ) {
      handle = options.user?.id ?? ''
      const data = clientData('webauthn.create', options, change)
      const length = Buffer.from([0, credentialId.length])
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)])
      const rpId = change.rpId ?? options.rp?.id ?? ''
      const [fmt, attStmt] = attestation
      const members = [
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authData(rpId, AT, change, attested)],
      ] as const
      const attestationObject = base64url(cbor(new Map<number | string, unknown>(members)))
      return credential({ clientDataJSON: base64url(data), attestationObject, transports: ['internal'] })
    },
    /** Returns the credential of a sign-in. */
    assert(options: CeremonyOptions, change: Ceremony = {}) {
      const data = clientData('webauthn.get', options, change)
      const authenticatorData = authData(change.rpId ?? options.rpId ?? '', 0, change, Buffer.alloc(0))
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(data)]), privateKey)
      return credential({
        clientDataJSON: base64url(data),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
        userHandle: change.userHandle ?? handle,
      })
    },
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>
