// Compares the verdicts of this package and of its peers on one input.
import { isDeepStrictEqual } from 'node:util'

/** Makes classes of disagreement of a table: a name, the reason, its reference, and a function that returns whether an input is of the class. */
export const classes = (table) =>
  Object.entries(table).map(([name, [reason, reference, holds]]) => ({ name, reason, reference, holds }))

/** Returns the verdict of a function: what it accepted, or the error with which it refused. */
export async function verdictOf(accept) {
  try {
    return { accepted: await accept() }
  } catch (error) {
    return { error }
  }
}

/**
 * Asks this package, then its peers about one case. Returns its findings, which are empty unless this package is at fault or a class is missing:
 * - this package fails with another error than a refusal
 * - a class holds, but this package accepts
 * - this package accepts what a peer refuses
 * - this package and a peer accept, but read different contents
 * - this package refuses what a peer accepts, and no class holds, unless a subject judges only what is accepted
 * @returns `traits` name the outcome: each verdict, and each class of disagreement
 */
export async function compare(subject, one) {
  const { input, ...asked } = await subject.run(one)
  const ours = await verdictOf(asked.ours)
  const entries = await Promise.all(
    Object.entries(asked.peers).map(async ([peer, ask]) => [peer, await verdictOf(ask)]),
  )
  const stricter = subject.stricter.filter(({ holds }) => holds(input)).map(({ name }) => name)
  const accepting = entries.filter(([, { error }]) => !error)
  const refusing = entries.filter(([, { error }]) => error)
  const findings = []
  if (ours.error && !subject.isRefusal(ours.error)) findings.push(`fails with ${ours.error}`)
  if (!ours.error) {
    for (const name of stricter) findings.push(`accepts, although the class "${name}" holds`)
    for (const [peer] of refusing) {
      if (!subject.lenient.some((known) => known.peers.includes(peer) && known.holds(input))) {
        findings.push(`accepts what ${peer} refuses`)
      }
    }
    for (const [peer, { accepted }] of accepting) {
      if (!isDeepStrictEqual(accepted, ours.accepted)) findings.push(`reads other contents than ${peer}`)
    }
  } else if (stricter.length === 0 && !subject.isOnlyAccepted) {
    for (const [peer] of accepting) findings.push(`refuses what ${peer} accepts`)
  }
  const labels = [['ours', ours], ...entries].map(([name, verdict]) => `${name}: ${labelOf(verdict)}`)
  const classes = stricter.flatMap((name) =>
    ours.error ? accepting.map(([peer]) => `${name}, but ${peer} accepts`) : [],
  )
  const allowed = refusing.flatMap(([peer]) =>
    ours.error
      ? []
      : subject.lenient
          .filter((known) => known.peers.includes(peer) && known.holds(input))
          .map(({ name }) => `${name}, and ${peer} refuses`),
  )
  return { findings, traits: [...labels, ...classes, ...allowed], isAccepted: !ours.error }
}

/** Names an outcome without the parts of a message that depend on the input. */
export function labelOf({ error }) {
  if (!error) return 'accepted'
  const code = typeof error.code === 'string' ? error.code : `${error.name} ${error.message}`.replace(/["'`:\d].*/s, '')
  return `${error.reason ?? code}`.slice(0, 60).trim()
}
