import type { CallFailure } from '../call-failure.js'
import type { Outcome } from '../calls.js'
import { type Call, callFailureText } from '../messages.js'
import { announce } from './announcer.js'
import { byId, element } from './dom.js'

export interface PanelParts<T> extends Call {
  /** The id of the section. The ids of its heading and content end in `-title` and `-body`. */
  id: string
  load: (signal: AbortSignal) => Promise<Outcome<T>>
  draw: (value: T, signal: AbortSignal) => Node[]
  /** Called when the API refuses the token. */
  onRefused: () => void
}

export interface Panel {
  /** @param signal aborts at the end of the session */
  load(signal: AbortSignal): Promise<void>
  clear(): void
}

/** Creates a section of the page that loads and fails independently. */
export function createPanel<T>({ id, load, draw, onRefused, ...call }: PanelParts<T>): Panel {
  const title = byId(`${id}-title`, HTMLHeadingElement)
  const body = byId(`${id}-body`, HTMLDivElement)

  const show = (...nodes: Node[]) => {
    body.replaceChildren(...nodes)
    body.ariaBusy = 'false'
  }

  function retryButton(signal: AbortSignal): HTMLButtonElement {
    const retry = element('button', { type: 'button' }, 'Try again')
    retry.addEventListener('click', () => {
      // Moves the focus to the heading, because the button disappears.
      title.focus()
      body.replaceChildren()
      void panel.load(signal)
    })
    return retry
  }

  function showFailure(failure: CallFailure, signal: AbortSignal): void {
    const text = callFailureText(failure, call)
    announce(text)
    const isForGood = failure.kind === 'scope-missing'
    show(element('p', { class: 'message', 'data-tone': 'problem' }, text), ...(isForGood ? [] : [retryButton(signal)]))
  }

  const panel = {
    async load(signal: AbortSignal) {
      body.ariaBusy = 'true'
      if (!body.hasChildNodes()) body.append(element('p', { class: 'quiet' }, 'Loading …'))
      const outcome = await load(signal)
      if (signal.aborted) return
      if ('failure' in outcome) {
        if (outcome.failure.kind === 'token-refused') return onRefused()
        return showFailure(outcome.failure, signal)
      }
      show(...draw(outcome.value, signal))
      announce(`Loaded: ${call.what}.`)
    },
    clear: () => show(),
  }
  return panel
}
