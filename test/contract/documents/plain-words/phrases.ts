/** A phrase that `CONTRIBUTING.md` bans, and what to write instead. */
export interface Phrase {
  pattern: RegExp
  write: string
}

/** Each row: the pattern, without regard to case and between word boundaries, and what to write instead. */
const ROWS: readonly (readonly [string, string])[] = [
  // The glossary.
  ['answer(?:s|ed|ing)?', 'response, return value, result; responds, returns'],
  ['(?:good|bad)(?! (?:request|gateway|practice|idea|reason)\\b)', 'valid, invalid'],
  ['(?:looks?|looked|looking|checks?) again|(?:first|second) look|looks? twice', 'check on every request'],
  ['(?:takes?|taking|took|taken) away', 'revoke'],
  ['(?:shows?|follow(?:s|ed|ing)?) (?:the |its |their )?(?:public )?keys', 'publish keys, fetch and cache keys'],
  ['remember(?:s|ed|ing)?', 'cache'],
  ['(?:is|are|was|were|be|been|stays?|goes) away', 'unreachable, down'],
  ['hand(?:s|ed|ing)|hand (?:it|them|that|express|in|over|out|on|back)', 'pass (an argument)'],
  ['(?:leav(?:e|es|ing)|left)(?: \\S+)? out', 'omit, skip'],
  ['gates?|gatekeepers?|turnstiles?', 'limit, queue'],
  ['(?:its|their|a|his|your|every|each) turn(?! of the event loop)', 'queue slot'],
  ['(?:its|their|a|free|no|another|queue) place(?! where)|places? in the queue', 'queue slot'],
  ['budgets?', 'failed-login limit'],
  ['(?:is|are|was|were|be|been) spent|spend(?:s|ing)?|(?:one|two|a|\\d+) points?', 'use up, count'],
  ['doors?|doorkeepers?', 'router, endpoint'],
  ["(?:host's|your|failing|which|own) parts?", 'dependency (account store, password check …)'],
  ['fleets?', 'several processes, several instances'],
  ['chang(?:e|es|ed|ing) (?:the |its |their )?(?:signing )?key', 'rotate keys'],
  ['log(?:s|ged|ging)?[ -]out|logouts?', 'sign out'],
  ['pac(?:e|es|ed|ing)|pacers?|linger(?:s|ed|ing)?', 'rate-limit, delay, drain'],
  // The idiom.
  ['(?<!there )(?:is|are|was|were) no(?! (?:longer|more|less|later|earlier)\\b)', 'is not a'],
  ['alone', 'only'],
  ["of (?:its|their|his|her|your|our|my|[\\w']+'s) own", 'its own, custom'],
  ['behind(?! (?:\\S+ ){0,3}(?:prox(?:y|ies)|(?:load )?balancers?|nginx|firewalls?|cdn)\\b)', 'after'],
  ['beside', 'in addition to, next to'],
  ['(?:stands?|stood|standing)(?! for\\b| in\\b|-in\\b)', 'is'],
  ['told|(?:is|are|was|were|be) asked', 'is called with, receives'],
  ['(?:goes|go|going|went|gone|does|do|makes?) without', 'works without, omits'],
  ['unless (?:it is |they are )?set', 'by default'],
  ['(?:is|are|was|were) to be', 'an imperative'],
  ['so (?:many|much)|in time', 'the number'],
  ['(?:who|what|whom|which)(?:so)?ever|whom', 'the actor, any'],
  ['(?:goes|go|went|gone|going) on', 'continues'],
  ['(?:is|are|was|were) owed|owes?', 'is pending'],
  ['less (?:the|what|those|its)|save for|nothing but|none but|in vain|lest', 'without, only, an actor and a verb'],
  ["(?:host's|compiler's|caller's|reader's) affair", 'an actor and a verb'],
]

/** The phrases that `CONTRIBUTING.md` bans. */
export const PHRASES: readonly Phrase[] = ROWS.map(([words, write]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${words})(?![\\w])`, 'giu'),
  write,
}))
