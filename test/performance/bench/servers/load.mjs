import { start } from './processes.mjs'

/** The load generator, in a process of its own, with so many connections to each of the servers. */
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
    /** Loads one server: a request is `before`, the next of its list, and `after`. */
    run: ({ port, before, list, after }, milliseconds) =>
      order({ order: 'run', port, before, list, after, milliseconds }),
    stop: () => generator.child.disconnect(),
  }
}
