/** The kinds of mails that have a link. */
export type LinkKind = 'sign-up' | 'password-reset' | 'new-address' | 'sign-in'

/** A link of a mail. */
export interface Link {
  kind: LinkKind
  code: string
}

/** Returns the link that has led here, and removes its code from the address, so that the history does not keep the code. */
export function takeLink(): Link | undefined {
  const [, kind, code] = /^#(sign-up|password-reset|new-address|sign-in)=([\w-]+)$/.exec(location.hash) ?? []
  if (kind === undefined || code === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return { kind: kind as LinkKind, code }
}
