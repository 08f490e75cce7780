import type { CallFailure } from '../call-failure.js'
import type { Outcome } from '../calls.js'
import { type Call, callFailureText } from '../messages.js'
import type { Session } from '../session.js'
import { announce } from './announcer.js'
import { byId, element } from './dom.js'

export interface PanelParts<T> extends Call {
  /** The id of the section. The ids of its heading and content end in `-title` and `-body`. */
  id: string
  load: (session: Session) => Promise<Outcome<T>>
  draw: (value: T) => Node[]
  /** Called when the API refuses the token. */
  onRefused: (session: Session) => void
}

export interface Panel {
  load(session: Session): Promise<void>
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

  function retryButton(session: Session): HTMLButtonElement {
    const retry = element('button', { type: 'button' }, 'Try again')
    retry.addEventListener('click', () => {
      // Moves the focus to the heading, because the button disappears.
      title.focus()
      body.replaceChildren()
      void panel.load(session)
    })
    return retry
  }

  function showFailure(failure: CallFailure, session: Session): void {
    const text = callFailureText(failure, call)
    announce(text)
    const isForGood = failure.kind === 'scope-missing'
    show(element('p', { class: 'message', 'data-tone': 'problem' }, text), ...(isForGood ? [] : [retryButton(session)]))
  }

  const panel = {
    async load(session: Session) {
      body.ariaBusy = 'true'
      if (!body.hasChildNodes()) body.append(element('p', { class: 'quiet' }, 'Loading …'))
      const outcome = await load(session)
      if (session.signal.aborted) return
      if ('failure' in outcome) {
        if (outcome.failure.kind === 'token-refused') return onRefused(session)
        return showFailure(outcome.failure, session)
      }
      show(...draw(outcome.value))
      announce(`Loaded: ${call.what}.`)
    },
    clear: () => show(),
  }
  return panel
}
