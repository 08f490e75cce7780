/** Runs something while `Object.prototype` has properties that do not belong there, as after an attack on another package. */
export async function polluted<T>(properties: Readonly<Record<string, unknown>>, run: () => T): Promise<Awaited<T>> {
  const target = Object.prototype as unknown as Record<string, unknown>
  const names = Object.keys(properties)
  try {
    for (const name of names) {
      Object.defineProperty(target, name, {
        value: properties[name],
        configurable: true,
        enumerable: true,
        writable: true,
      })
    }
    return await run()
  } finally {
    for (const name of names) Reflect.deleteProperty(target, name)
  }
}

/** What a function returns or rejects with: looked at when nothing is polluted any more. */
export async function outcomeOf<T>(run: () => T | Promise<T>): Promise<{ value?: T; error?: unknown }> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error }
  }
}
