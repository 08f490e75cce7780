import { readFileSync } from 'node:fs'

const APPS = ['aichbauer', 'tanem', 'cirosantilli', 'hagopj13', 'ljlm0402', 'davellanedam']
const isCode = (line) => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line)

/** Returns the lines of code that the patch of a moved app removes and adds. */
export function linesOf(app) {
  const patch = readFileSync(new URL(`patches/${app}.diff`, import.meta.url), 'utf8').split('\n')
  const changed = patch.filter((line) => /^[-+]/.test(line) && !/^(---|\+\+\+) /.test(line))
  const count = (sign) => changed.filter((line) => line[0] === sign && isCode(line.slice(1))).length
  return { app, before: count('-'), after: count('+') }
}

export const counts = () => APPS.map(linesOf)
