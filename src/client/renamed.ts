/*
 * The names of earlier releases. Each throws an error that says what to do. They go at 1.0.0.
 */

const gone = () => {
  throw new TypeError(
    "shareBetweenTabs and keepInTab are gone: refresh: 'cookie' restores every tab. See docs/guides/client.md",
  )
}

/** @deprecated Pass `refresh: 'cookie'`. */
export const shareBetweenTabs: () => never = gone
/** @deprecated Pass `refresh: 'cookie'`. */
export const keepInTab: () => never = gone
