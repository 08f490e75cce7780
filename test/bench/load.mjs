import { start } from './support.mjs'

/** The load generator, in a process of its own, connected to a server. */
export async function startLoad(port) {
  const generator = await start('load-generator.mjs')
  const order = async (message) => {
    const { error, result } = await generator.ask(message)
    if (error) throw new Error(`${message.before?.split(' ', 2).join(' ') ?? message.order}: ${error}`)
    return result
  }
  await order({ order: 'connect', port })
  return {
    remember: (list, items) => order({ order: 'remember', list, items }),
    /** Loads one variant: a request is `before`, the next of its list, and `after`. */
    run: ({ before, list, after }, milliseconds) => order({ order: 'run', before, list, after, milliseconds }),
    stop: () => generator.child.disconnect(),
  }
}
