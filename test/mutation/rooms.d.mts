export const ROOMS: Readonly<Record<string, { readonly mutate: string[]; readonly tests: string[] }>>
