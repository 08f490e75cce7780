import { start } from '../../processes.mjs'

const MOST_FAILED_LOGINS = 64

/** Measures the memory of cached tokens and of failed logins, and checks their limits. */
export const memory = {
  title: 'Memory of verified tokens and of failed logins',
  async run({ node }) {
    const { first } = await start(new URL('../retained-memory.mjs', import.meta.url), {
      execArgv: ['--expose-gc'],
      node,
    })
    const { length, cached, distinct, sizes } = first.tokens
    const megabytes = (bytes) => bytes / 2 ** 20
    // The cache holds at most twice its size.
    const [half, full] = sizes
    const most = Math.max(...sizes)
    const perThousand = megabytes((half / cached) * 1000)
    const failedLogins = megabytes(first.failedLogins.size)
    const failed = `failed logins of ${first.failedLogins.count.toLocaleString('en')} accounts and addresses`
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
            [failed, show(failedLogins)],
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
        {
          demand: `memory after ${failed}: at most ${MOST_FAILED_LOGINS} MB`,
          measured: show(failedLogins),
          holds: failedLogins <= MOST_FAILED_LOGINS,
        },
      ],
      rows: { perThousand, full: megabytes(full), most: megabytes(most), failedLogins },
    }
  },
}
