import { start } from '../../processes.mjs'

/** Measures the memory of cached tokens, and checks its limit. */
export const memory = {
  title: 'Memory of verified tokens',
  async run({ node }) {
    const { first } = await start(new URL('../token-memory.mjs', import.meta.url), { execArgv: ['--expose-gc'], node })
    const { length, cached, distinct, sizes } = first
    const megabytes = (bytes) => bytes / 2 ** 20
    // The cache holds at most twice its size.
    const [half, full] = sizes
    const most = Math.max(...sizes)
    const perThousand = megabytes((half / cached) * 1000)
    const show = (value) => `${value.toFixed(2)} MB`
    return {
      tables: [
        {
          heads: [`tokens of ${length} bytes`, 'retained'],
          rows: [
            ['1,000 tokens', show(perThousand)],
            [
              `${(2 * cached).toLocaleString('en')} tokens, the most that the default cache holds`,
              show(megabytes(full)),
            ],
            [`${distinct.toLocaleString('en')} tokens in turn, the most at any time`, show(megabytes(most))],
          ],
        },
      ],
      demands: [
        { demand: '(memory per 1,000 cached tokens)', measured: `${show(perThousand)}, ${length} bytes each` },
        {
          demand: `memory after ${distinct.toLocaleString('en')} tokens to a full cache: at most 1.1`,
          measured: (most / full).toFixed(2),
          holds: most / full <= 1.1,
        },
      ],
      rows: { perThousand, full: megabytes(full), most: megabytes(most) },
    }
  },
}
