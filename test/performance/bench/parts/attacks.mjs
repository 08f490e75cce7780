import { ATTACKS } from '../attacks.mjs'
import { underAttack } from '../measure/under-attack.mjs'
import { attackDemands, attackTables, settingTables } from '../report/attacks.mjs'
import { SETTINGS } from '../servers/attacked.mjs'

/** The attacks that the settings of a host are measured with: one for hashing threads, pipelined requests and garbage. */
const OF_SETTINGS = ['256 addresses guess', 'one address guesses, 16 × 400', 'forged tokens, 64 × 60']

/** Linux shows the same name for all threads of Node 20, so the priority of one kind cannot be changed there. */
const isPossible = ({ nice }, line) => !(nice && line === '20')

/** Measures each attack on this package and on an Express app built the usual way. */
export const attacks = {
  title: 'Attacks',
  async run({ node }) {
    const rows = []
    for (const attack of ATTACKS) {
      const row = { name: attack.name }
      for (const kind of ['package', 'plain']) row[kind] = await underAttack(attack, kind, {}, node)
      rows.push(row)
    }
    return { tables: attackTables(rows), demands: attackDemands(rows), rows }
  },
}

/** Measures what a host can set, for this package, and Express without any guard or limit. */
export const settings = {
  title: 'Settings of a host under attack',
  async run({ node, line }) {
    const possible = Object.entries(SETTINGS).filter(([, setting]) => isPossible(setting, line))
    const rows = []
    for (const attack of ATTACKS.filter(({ name }) => OF_SETTINGS.includes(name))) {
      for (const [name, setting] of possible) {
        const kind = setting.kind ?? 'package'
        rows.push({ attack: attack.name, name, ...(await underAttack(attack, kind, setting, node)) })
      }
    }
    return { tables: settingTables(rows), demands: [], rows }
  },
}
