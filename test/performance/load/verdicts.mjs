/**
 * Verdicts of a part. A `check` with `right: false` fails the run. A `figure` never fails the run, because a busy machine changes it.
 */
export const check = (what, measured, right) => ({ what, measured, right })
export const figure = (what, measured, holds) => ({ what, measured, holds })

export const rowOf = ({ what, measured, right, holds = right }) => [
  what,
  measured,
  holds === undefined ? '' : holds ? 'yes' : 'NO',
]

export const isWrong = ({ right }) => right === false
