import { native } from '../../packages/on-first-use.cjs'

/**
 * Loads a native module. A service that only verifies tokens never calls it.
 * @throws Error that says what to install, with the loader's own error as its cause
 */
export function nativeModule<T>(name: string): T {
  try {
    return native(name) as T
  } catch (cause) {
    throw new Error(
      `passwords: ${name} cannot be loaded. Install ${name} with its optional dependencies, or pass createPasswords() hashers that work without it, for example argon2id({ engine: 'node' }) on Node 24.7 or newer`,
      { cause },
    )
  }
}
