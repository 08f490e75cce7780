export const EMAIL: string
export const PASSWORD: string
export function hashed(): Promise<string>
export function listening(port: number): void
