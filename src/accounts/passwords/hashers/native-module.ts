/**
 * Returns a function that loads a native module on its first call. A service that only verifies tokens never calls it.
 * @throws Error that says what to install, with the loader's own error as its cause
 */
export function nativeModule<T>(name: string): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    // A bundler follows only a specifier that it can read, and cannot put a native module into a bundle.
    loading ??= import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name).catch(
      (cause: unknown) => {
        loading = undefined
        throw new Error(
          `passwords: ${name} cannot be loaded. Install ${name} with its optional dependencies, or pass createPasswords() hashers that work without it, for example argon2id({ engine: 'node' }) on Node 24.7 or newer`,
          { cause },
        )
      },
    ) as Promise<T>
    return loading
  }
}
