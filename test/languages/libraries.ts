import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A program has the fewest options, or is strict. */
export type Mode = 'default' | 'strict'

/** A library, with the programs that verify tokens with it. */
export interface Library {
  name: string
  language: string
  /** The installed version. */
  version: string
  /** The folder of the programs. */
  folder: string
  /** Returns the command that reads tokens and prints verdicts. */
  command: (mode: Mode) => readonly string[]
}

interface Language {
  name: string
  /** The folder of the programs, below this folder. */
  folder: string
  /** The command that installs the libraries. */
  install: string
  /** Large packages are installed only for `npm run languages`. */
  large?: boolean
  /** The programs that may run the language. */
  runtimes: readonly string[]
  /** The arguments with which such a program prints the version of each library, one a line. */
  probe: readonly string[]
  /** Returns the command that runs a program. */
  command: (runtime: string, mode: Mode, prefix: string) => readonly string[]
  /** The names of the libraries, and the start of the names of their files. */
  libraries: Readonly<Record<string, string>>
}

const NPM = ['jose', 'oauth4webapi', 'fast-jwt', 'jsonwebtoken', 'aws-jwt-verify']
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url))

const LANGUAGES: readonly Language[] = [
  {
    name: 'JavaScript',
    folder: 'javascript',
    install: 'npm ci',
    runtimes: [process.execPath],
    probe: [
      '-e',
      'for (const one of process.argv.slice(1)) console.log(require(one).version)',
      ...NPM.map((name) => `${MODULES}${name}/package.json`),
    ],
    command: (runtime, mode, prefix) => [runtime, 'run.mjs', prefix, mode],
    libraries: Object.fromEntries(NPM.map((name) => [name, name])),
  },
  {
    name: 'Python',
    folder: 'python',
    install: 'apt-get install python3 python3-jwt python3-authlib python3-jose',
    // Another Python may be first on the path, without the packages of Debian.
    runtimes: ['python3', '/usr/bin/python3'],
    probe: ['-c', 'import jwt, authlib, jose\nfor one in jwt, authlib, jose: print(one.__version__)'],
    command: (runtime, mode, prefix) => [runtime, 'run.py', prefix, mode],
    libraries: { PyJWT: 'pyjwt', Authlib: 'authlib', 'python-jose': 'python_jose' },
  },
  {
    name: 'Ruby',
    folder: 'ruby',
    install: 'apt-get install ruby ruby-jwt ruby-json-jwt',
    runtimes: ['ruby'],
    probe: [
      '-e',
      "require 'jwt'; require 'json/jwt'; %w[jwt json-jwt].each { |one| puts Gem.loaded_specs[one].version }",
    ],
    command: (runtime, mode, prefix) => [runtime, 'run.rb', prefix, mode],
    libraries: { 'ruby-jwt': 'ruby_jwt', 'json-jwt': 'json_jwt' },
  },
  {
    name: 'Perl',
    folder: 'perl',
    install: 'apt-get install perl libcrypt-jwt-perl libio-socket-ssl-perl',
    runtimes: ['perl'],
    probe: ['-MIO::Socket::SSL', '-MCrypt::JWT', '-e', 'print "$Crypt::JWT::VERSION\n"'],
    command: (runtime, mode, prefix) => [runtime, 'run.pl', `${prefix}_${mode}.pl`],
    libraries: { 'Crypt::JWT': 'crypt_jwt' },
  },
  {
    name: 'Go',
    folder: 'go',
    install: 'apt-get install golang-go golang-github-golang-jwt-jwt-dev golang-gopkg-square-go-jose.v2-dev',
    large: true,
    runtimes: ['sh'],
    probe: [
      '-ec',
      'go version >&2; dpkg-query -W golang-github-golang-jwt-jwt-dev golang-gopkg-square-go-jose.v2-dev | sed "s/.*\\t//; s/-[^-]*$//"',
    ],
    command: (runtime, mode, prefix) => [runtime, 'run.sh', `${prefix}_${mode}.go`],
    libraries: { 'golang-jwt': 'golang_jwt', 'go-jose': 'go_jose' },
  },
]

/** Returns the libraries of a language. Undefined when one of its packages is not installed. */
function installed({ name: language, folder, runtimes, probe, command, libraries }: Language): Library[] | undefined {
  for (const runtime of runtimes) {
    const { status, stdout } = spawnSync(runtime, probe, { encoding: 'utf8' })
    if (status !== 0) continue
    const versions = stdout.trim().split('\n')
    return Object.entries(libraries).map(([name, prefix], at) => ({
      name,
      language,
      version: versions[at] as string,
      folder: fileURLToPath(new URL(folder, import.meta.url)),
      command: (mode) => command(runtime, mode, prefix),
    }))
  }
  return undefined
}

/**
 * Returns the installed libraries, and how to install the missing ones.
 * @param large whether to include languages with large packages
 */
export function findLibraries({ large }: { large: boolean }): { libraries: Library[]; missing: string[] } {
  if (spawnSync('openssl', ['version']).status !== 0) {
    return { libraries: [], missing: ['The program openssl is missing. Install it: apt-get install openssl'] }
  }
  const found = { libraries: [] as Library[], missing: [] as string[] }
  for (const language of LANGUAGES.filter((one) => large || !one.large)) {
    const libraries = installed(language)
    if (libraries) found.libraries.push(...libraries)
    else found.missing.push(`A library for ${language.name} is missing. Install it: ${language.install}`)
  }
  return found
}

/** The verdict of a program on one token. */
export interface Verdict {
  accepted: boolean
  sub?: string
  scope?: string
  /** The error of a refusal. */
  why?: string
}

/** Runs a library's program with some tokens, and returns its verdict on each of them. */
export async function verdictsOf(
  { command, folder }: Library,
  mode: Mode,
  tokens: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, Verdict>> {
  const names = Object.keys(tokens)
  const [runtime = '', ...args] = command(mode)
  const running = promisify(execFile)(runtime, args, { cwd: folder, env })
  running.child.stdin?.end(
    Object.values(tokens)
      .map((token) => `${JSON.stringify({ token })}\n`)
      .join(''),
  )
  const lines = (await running).stdout.trim().split('\n')
  if (lines.length !== names.length) throw new Error(`${args.join(' ')} printed ${lines.length} verdicts`)
  return Object.fromEntries(lines.map((text, at) => [names[at], JSON.parse(text)]))
}
