/** Returns the bytes that this process keeps after garbage collections. Needs --expose-gc. */
export async function retained() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
