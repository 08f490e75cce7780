// Reads the tables of planted faults, and plants faults in a copy of the project.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = join(HERE, '../..')

/** The names of all tables. */
export const TABLES = readdirSync(HERE).flatMap((file) => (file.endsWith('.diff') ? [basename(file, '.diff')] : []))

/** A change: lines with `-`, then the lines with `+` that replace them. Without `-`, a constant replaces the one of its name. */
const CHANGE = /((?:^-.*\n)+)((?:^\+.*\n)*)|()((?:^\+.*\n)+)/gm
const withoutSigns = (lines) => lines.replace(/^./gm, '').replace(/\n$/, '')

/**
 * Reads a table. A head `@@ FILE COMMAND ARGUMENT` names the file of the following faults, and the command that must fail. A fault has
 * a title and its changes. The title of a fault of `check` also names the rows that must fail, after an arrow.
 */
export function readTable(name) {
  const groups = readFileSync(join(HERE, `${name}.diff`), 'utf8').split(/^@@ /m)
  return groups.slice(1).flatMap((group) => {
    const [head, ...faults] = group.split(/^# /m)
    const [file, command, argument] = head.trim().split(' ')
    return faults.map((fault) => {
      const [title, fails] = fault.slice(0, fault.indexOf('\n')).split(' → ')
      const changes = [...fault.matchAll(CHANGE)].map(([, from = '', to, , constant]) =>
        [from, to ?? constant].map(withoutSigns),
      )
      return { title, file, command, argument, changes, fails: fails?.split(', ') ?? [] }
    })
  })
}

/** Returns a text with a fault. */
function planted(text, { title, changes }) {
  return changes.reduce((old, [lines, to]) => {
    const [name] = to.split(' = ')
    const from = lines || old.split('\n').find((line) => line.trim().startsWith(`${name} = `))
    if (old.split(from).length !== 2) throw new Error(`${title}: the file must have this code once: ${from}`)
    return old.replace(from, () => to)
  }, text)
}

/** Throws when two faults of a table have one title, or when a fault quotes code that is no longer there. */
export function assertPlantable(name) {
  const titles = new Set()
  for (const fault of readTable(name)) {
    if (titles.has(fault.title)) throw new Error(`${name}: two faults have the title "${fault.title}".`)
    titles.add(fault.title)
    const text = readFileSync(join(ROOT, fault.file), 'utf8')
    if (planted(text, fault) === text) throw new Error(`${fault.title}: the fault changes nothing in ${fault.file}.`)
  }
}

/** Copies folders of the project. The copy shares the installed packages. */
export function createCopy(paths) {
  const folder = mkdtempSync(join(tmpdir(), 'faults-'))
  const filter = (path) => basename(path) !== 'node_modules'
  for (const path of paths) cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    /** Plants a fault, calls a function, and restores the file. */
    withFault(fault, run) {
      const path = join(folder, fault.file)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, planted(text, fault))
      try {
        return run()
      } finally {
        writeFileSync(path, text)
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
