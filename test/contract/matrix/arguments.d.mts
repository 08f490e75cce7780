/**
 * Reads the command's arguments: the Nodes to test, by default all, and whether with the packed consumers only.
 * @throws Error that says which arguments are possible
 */
export function readArguments(words: readonly string[]): { consumers: boolean; nodes: string[] }
