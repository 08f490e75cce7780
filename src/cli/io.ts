import { styleText } from 'node:util'

export type Output = NodeJS.WritableStream & { isTTY?: boolean }
export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

/** What a command has of the world around it; `process` is one. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  stdin: Input
  stdout: Output
  stderr: Output
}

/** To standard output: what was asked for. */
export function say({ stdout }: Io, text: string): void {
  stdout.write(`${text}\n`)
}

/** To standard error: what goes wrong, and what is told beside the result. */
export function remark({ stderr }: Io, text: string): void {
  stderr.write(`${text}\n`)
}

/** Colour, where a terminal shows it and NO_COLOR does not forbid it. */
export function paint(stream: Output, colour: 'green' | 'red' | 'yellow' | 'dim', text: string): string {
  return styleText(colour, text, { stream: stream as NodeJS.WritableStream })
}
