import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivate, writeOnce } from './private-files.js'

/** A mail as its reader sees it. */
export interface Letter {
  to: string
  subject: string
  text: string
  /** A link with a code. Absent in a notice. */
  link?: string
}

export interface SentLetter extends Letter {
  /** ISO 8601. */
  sentAt: string
}

/** The mails of the demo, which never leave this machine. */
export interface MailBox {
  /** The folder with a JSON file for each mail. */
  folder: string
  add(letter: Letter): void
  /** Returns the mails, newest first. */
  list(): SentLetter[]
}

/** The number of mails in the folder. Older ones are deleted. */
const KEPT = 100

/** Opens the mailbox in the data folder. Its files are private, because a code lets its reader sign in. */
export function openMailBox(dataDir: string): MailBox {
  const folder = join(dataDir, 'mails')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const newestFirst = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .reverse()
  return {
    folder,
    add(letter) {
      const sentAt = new Date().toISOString()
      // Names sort by time, and Windows has no names with a colon.
      const name = `${sentAt.replaceAll(':', '-')}-${randomUUID()}.json`
      writeOnce(join(folder, name), `${JSON.stringify({ sentAt, ...letter }, null, 2)}\n`)
      for (const old of newestFirst().slice(KEPT)) rmSync(join(folder, old), { force: true })
    },
    list: () => newestFirst().flatMap((name) => readLetter(join(folder, name)) ?? []),
  }
}

function readLetter(file: string): SentLetter | undefined {
  try {
    return JSON.parse(readPrivate(file).text) as SentLetter
  } catch (error) {
    // Another process has deleted it meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
