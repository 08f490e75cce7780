const CLAUSE = 'Who|Whom|Whose|Whoever|Whomever|What|Whatever|Which|Whichever|Whether'
const CONJUNCTION =
  'How|However|When|Whenever|Where|Wherever|Why|If|Unless|That|So|As|Because|While|Since|Until|Than|Though'
const AUXILIARY =
  'Is|Are|Was|Were|Be|Been|Do|Does|Did|Can|Cannot|Could|May|Might|Must|Shall|Should|Will|Would|Not|There|It|They|Those|These|He|She'
const PREPOSITION =
  'After|Against|Among|At|Before|Behind|Below|Beside|Besides|Between|By|For|From|In|Into|Of|On|Onto|Over|To|Under|Upon|With|Within|Without'

/** Openings that are neither a verb nor a noun phrase. */
const NOT_A_DOCSTRING = new RegExp(`^["“(*_]*(${CLAUSE}|${CONJUNCTION}|${AUXILIARY}|${PREPOSITION})\\b`)

/** Openings that the text of a tag may not have. `@returns whether …` is current English. */
const NOT_A_TAG = new RegExp(`^(?!whether\\b)(${CLAUSE}|${CONJUNCTION}|${AUXILIARY})\\b`, 'i')

/** A headless clause, anywhere but in a question. */
const NOT_A_SENTENCE = new RegExp(`^["“(*_]*(${CLAUSE})\\b[^?]*$`)

/** Returns the word that opens a docstring wrongly. */
export const wrongOpening = (docstring: string): string | undefined => NOT_A_DOCSTRING.exec(docstring)?.[1]

/** Returns the word that opens the text of a tag wrongly. */
export const wrongTagOpening = (text: string): string | undefined => NOT_A_TAG.exec(text)?.[1]

/** Returns the word that opens a sentence wrongly. */
export const headless = (sentence: string): string | undefined => NOT_A_SENTENCE.exec(sentence)?.[1]
