import { start } from '../../processes.mjs'

/** Starts the load generator in its own process, with `connections` connections to each server. */
export async function startLoad(ports, connections) {
  const generator = await start(new URL('load-generator.mjs', import.meta.url))
  const order = async (message) => {
    const { error, result } = await generator.ask(message)
    if (error) throw new Error(`${message.before?.split(' ', 2).join(' ') ?? message.order}: ${error}`)
    return result
  }
  for (const port of ports) await order({ order: 'connect', port, connections })
  return {
    remember: (list, items) => order({ order: 'remember', list, items }),
    /** Loads one server. A request is `before`, the next item of its list, and `after`. */
    run: ({ port, before, list, after }, milliseconds) =>
      order({ order: 'run', port, before, list, after, milliseconds }),
    stop: () => generator.child.disconnect(),
  }
}
