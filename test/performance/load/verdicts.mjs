/**
 * What a part found: `right` is about answers, and fails the run when it is false; `holds` is about a figure, which a busy machine
 * moves, and fails nothing.
 */
export const answer = (what, measured, right) => ({ what, measured, right })
export const figure = (what, measured, holds) => ({ what, measured, holds })

export const rowOf = ({ what, measured, right, holds = right }) => [
  what,
  measured,
  holds === undefined ? '' : holds ? 'yes' : 'NO',
]

export const isWrong = ({ right }) => right === false
