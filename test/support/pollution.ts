/** Runs a function while `Object.prototype` has foreign properties, as after an attack on another package. */
export async function polluted<T>(properties: Readonly<Record<string, unknown>>, run: () => T): Promise<Awaited<T>> {
  const target = Object.prototype as unknown as Record<string, unknown>
  const names = Object.keys(properties)
  try {
    Object.assign(target, properties)
    return await run()
  } finally {
    for (const name of names) Reflect.deleteProperty(target, name)
  }
}

/** Returns the result or the error of a function, so that a test reads it after the pollution. */
export async function outcomeOf<T>(run: () => T | Promise<T>): Promise<{ value?: T; error?: unknown }> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error }
  }
}
