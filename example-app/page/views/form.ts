import type { Tone } from '../messages.js'
import type { Problem } from '../problems.js'
import { element } from './dom.js'

/** The content of the inputs, by name. */
export type Values = Readonly<Record<string, string>>

export interface FormBehavior {
  /** The text of the button while the request is running. */
  busy: string
  /** The message about each input that must not be empty, by name. */
  missing: Values
  /** Resolves with the problem, or with undefined after a success. */
  submit: (values: Values) => Promise<Problem | undefined>
}

export interface Form {
  say(text: string, tone: Tone): void
  /** Removes what was typed, and moves the focus to the first input or to another one. */
  reset(values?: Values, focus?: string): void
  /** Removes what was typed. */
  clear(): void
}

interface FormElements {
  form: HTMLFormElement
  message: HTMLElement
  button: HTMLButtonElement
}

/** Makes a form check its inputs, show that it is busy, and show a problem where it is. */
export function wireForm({ form, message, button }: FormElements, { busy, missing, submit }: FormBehavior): Form {
  const label = button.textContent
  const inputs = [...form.elements].filter((part) => part instanceof HTMLInputElement)
  const inputOf = (name: string) => inputs.find((input) => input.name === name)
  const isEmpty = (input: HTMLInputElement) => (input.type === 'checkbox' ? !input.checked : input.value === '')

  const say = (text: string, tone: Tone) => {
    message.dataset['tone'] = tone
    message.textContent = text
  }
  const complain = ({ text, at = '' }: Problem) => {
    say(text, 'problem')
    const input = inputOf(at)
    if (!input) return
    input.ariaInvalid = 'true'
    input.focus()
    if (input.type === 'password') input.select()
  }
  const setBusy = (isBusy: boolean) => {
    // Does not disable the button, because a disabled button loses the focus.
    button.ariaDisabled = String(isBusy)
    button.textContent = isBusy ? busy : label
  }
  const forgetPasswords = () => {
    for (const input of inputs)
      if (input.type === 'password' || input.autocomplete === 'one-time-code') input.value = ''
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.ariaDisabled === 'true') return
    for (const input of inputs) input.ariaInvalid = 'false'
    const empty = inputs.find((input) => missing[input.name] !== undefined && isEmpty(input))
    if (empty) return complain({ text: missing[empty.name] ?? '', at: empty.name })
    say('', 'note')
    setBusy(true)
    const problem = await submit(Object.fromEntries(inputs.map(({ name, value }) => [name, value])))
    setBusy(false)
    if (problem) complain(problem)
    else forgetPasswords()
  })

  const clear = (values: Values = {}) => {
    for (const input of inputs) {
      input.ariaInvalid = 'false'
      if (input.type !== 'checkbox') input.value = values[input.name] ?? ''
    }
  }

  return {
    say,
    clear,
    reset(values = {}, focus = '') {
      clear(values)
      ;(inputOf(focus) ?? inputs.find(({ hidden }) => !hidden) ?? button).focus()
    },
  }
}

export interface Field {
  name: string
  label: string
  type: 'email' | 'password' | 'checkbox' | 'text'
  autocomplete?: AutoFill
  /** The message when it is empty. */
  missing: string
  hint?: string
}

export interface NewForm extends Omit<FormBehavior, 'missing'> {
  /** The beginning of the ids of its inputs. */
  id: string
  fields: readonly Field[]
  button: string
  /** The address of the account, for password managers. */
  username?: string | undefined
}

/** Creates a form with a label for each input. */
export function createForm({
  id,
  fields,
  button: label,
  username,
  ...behavior
}: NewForm): Form & { node: HTMLElement } {
  const message = element('p', { id: `${id}-message`, class: 'message', role: 'alert' })
  const button = element('button', { type: 'submit', class: 'main' }, label)
  const form = element('form', { method: 'post', novalidate: '' }, message)
  if (username !== undefined)
    form.append(element('input', { type: 'text', autocomplete: 'username', value: username, hidden: '' }))
  for (const field of fields) form.append(...partsOf(id, field))
  form.append(button)
  const missing = Object.fromEntries(fields.map(({ name, missing: text }) => [name, text]))
  return { ...wireForm({ form, message, button }, { ...behavior, missing }), node: form }
}

function partsOf(form: string, { name, label, type, autocomplete, hint }: Field): Node[] {
  const id = `${form}-${name}`
  const input = element('input', {
    id,
    name,
    required: '',
    'aria-describedby': [`${form}-message`, ...(hint ? [`${id}-hint`] : [])].join(' '),
    ...(autocomplete && { autocomplete }),
    // The type `email` would change the address of some alphabets.
    ...(type === 'email'
      ? { type: 'text', inputmode: 'email', autocapitalize: 'none', spellcheck: 'false' }
      : { type }),
  })
  if (type === 'checkbox') return [element('label', { class: 'choice' }, input, label)]
  const hints = hint ? [element('p', { id: `${id}-hint`, class: 'hint quiet' }, hint)] : []
  return [element('label', { for: id }, label), input, ...hints]
}
