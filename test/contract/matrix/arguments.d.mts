/**
 * Reads the command's arguments: the Nodes and the other runtimes to test, by default all, and whether with the packed consumers
 * only.
 * @throws Error that says which arguments are possible
 */
export function readArguments(words: readonly string[]): { consumers: boolean; nodes: string[]; runtimes: string[] }
