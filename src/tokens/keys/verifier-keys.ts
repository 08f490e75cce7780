import { misuse, PAGE, type Subject } from '../../options/misuse.js'
import { isPlainObject, memberOf } from '../../options/values.js'
import { hrefOf } from '../../options/web-url.js'
import type { MATERIALS } from './key-material.js'
import { type KeySource, readKeys } from './key-ring.js'
import { isRemoteKeys } from './remote-keys.js'

/**
 * Reads the `keys` option of a verifier: keys that verify, or `remoteKeys`.
 * @param materials the readers of the material
 * @throws TypeError that names the invalid key
 */
export function readVerifierKeys(
  caller: Subject,
  value: unknown,
  held?: KeySource,
  materials?: typeof MATERIALS,
): KeySource {
  if (isRemoteKeys(value)) return value
  if (hasRemoteKeys(value)) throw wrongKeys(caller, 'be either one remoteKeys() or a list of other keys')
  const url = hrefOf(value)
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    throw wrongKeys(caller, 'contain keys, but is a URL. Did you mean remoteKeys(url)?')
  }
  if ([value].flat().some(hasPrivateKey)) {
    throw wrongKeys(caller, 'not contain a "privateKey", because verifiers do not sign. Pass the "publicKey"')
  }
  return readKeys(caller, value, held, materials)
}

export const wrongKeys = (caller: Subject, says: string) => misuse(`${caller}: option "keys" must ${says}`, PAGE.keys)

export const hasRemoteKeys = (keys: unknown) => [keys].flat().some(isRemoteKeys)

const hasPrivateKey = (key: unknown) => isPlainObject(key) && memberOf(key, 'privateKey') !== undefined
