import { type Check, InvalidOption, isPlainObject, optional } from '../../shared/options.js'

/** The names of the members that hold the credentials in a request body. */
export type FieldNames = Readonly<Record<'email' | 'password', string>>

export const FIELDS: FieldNames = { email: 'email', password: 'password' }

const fieldNames: Check<FieldNames> = (value) => {
  const names = { ...FIELDS, ...(isPlainObject(value) ? value : {}) }
  const isValid = isPlainObject(value) && Object.keys(names).length === 2 && Object.values(names).every(isName)
  if (!isValid || names.email === names.password) {
    throw new InvalidOption("an object with the names of two members, like { email: 'username' }")
  }
  return names
}

const isName = (value: unknown) => typeof value === 'string' && value !== ''

/** The option `fields`. */
export const fieldsOption = optional(fieldNames, FIELDS)
