import { complain } from './output.js'

const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  hello: () => import('./hello.js'),
  account: () => import('./commands/account.js'),
  keys: () => import('./commands/keys.js'),
  totals: () => import('./commands/totals.js'),
}

// Each program reads its own arguments after its name.
const [name = ''] = process.argv.splice(2, 1)
const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
if (program) await program()
else {
  complain(`Pass the name of a program: ${Object.keys(PROGRAMS).join(', ')}. For example: npm run example -- hello`)
  process.exitCode = 2
}
