import { warnOnce } from '../../events/warnings.js'
import { type Check, InvalidOption, optional } from '../../options/read-options.js'
import { suggestion } from '../../options/suggest.js'
import { isPlainObject } from '../../options/values.js'

/** The names of the members that hold the credentials in a request body. */
export type FieldNames = Readonly<Record<'email' | 'password', string>>

export const FIELDS: FieldNames = { email: 'email', password: 'password' }

const fieldNames: Check<FieldNames> = (value) => {
  const names = { ...FIELDS, ...(isPlainObject(value) ? value : {}) }
  const mistake = isPlainObject(value) ? mistakeIn(names) : undefined
  if (mistake !== '') {
    throw new InvalidOption("an object with the names of two members, like { email: 'username' }", mistake)
  }
  if (Object.values(names).some((name) => name.includes('.'))) warnOnce('dotInField')
  return names
}

function mistakeIn(names: FieldNames): string {
  const known = Object.keys(FIELDS)
  const unknown = Object.keys(names).find((name) => !known.includes(name))
  if (unknown !== undefined) return `Unknown member "${unknown}". ${suggestion(unknown, known)}`
  if (!Object.values(names).every(isName)) return 'Each name must be a non-empty string'
  return names.email === names.password ? 'Both members have the same name' : ''
}

const isName = (value: unknown) => typeof value === 'string' && value !== ''

export const fieldsOption = optional(fieldNames, FIELDS)
