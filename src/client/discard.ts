/** Frees the connection of a response that is not read to its end. */
export async function discard({ body }: { readonly body: unknown }): Promise<void> {
  try {
    // The responses of node-fetch have streams of Node.
    const { cancel, destroy } = Object(body)
    await (cancel ?? destroy).call(body)
  } catch {
    // Without a body, and after a failure, there is nothing to free.
  }
}
