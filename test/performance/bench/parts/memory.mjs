import { start } from '../../processes.mjs'

const MOST_FAILED_LOGINS = 64

const measure = (file) => start(new URL(`../${file}`, import.meta.url), { execArgv: ['--expose-gc'] })

/** Measures the memory of cached tokens and of failed logins, and checks their limits. */
export const memory = {
  title: 'Memory of verified tokens and failed logins',
  async run() {
    const { length, cached, distinct, sizes } = (await measure('token-memory.mjs')).first
    const { count, size } = (await measure('throttle-memory.mjs')).first
    const megabytes = (bytes) => bytes / 2 ** 20
    const full = sizes[0]
    const most = Math.max(...sizes)
    const perThousand = megabytes((full / cached) * 1000)
    const show = (value) => `${value.toFixed(2)} MB`
    return {
      tables: [
        {
          heads: [`tokens of ${length} bytes`, 'retained'],
          rows: [
            ['1,000 tokens', show(perThousand)],
            [`${cached.toLocaleString('en')} tokens, the default cache full`, show(megabytes(full))],
            [`${distinct.toLocaleString('en')} tokens in turn, the most at any time`, show(megabytes(most))],
            [`failed logins of ${count.toLocaleString('en')} accounts and addresses`, show(megabytes(size))],
          ],
        },
      ],
      demands: [
        { demand: `(memory per 1,000 cached tokens of ${length} bytes)`, measured: show(perThousand) },
        {
          demand: `memory after ${distinct.toLocaleString('en')} tokens to a full cache: at most 1.1`,
          measured: (most / full).toFixed(2),
          holds: most / full <= 1.1,
        },
        {
          demand: `memory after failed logins of ${count.toLocaleString('en')} accounts and addresses: at most ${MOST_FAILED_LOGINS} MB`,
          measured: show(megabytes(size)),
          holds: megabytes(size) <= MOST_FAILED_LOGINS,
        },
      ],
      rows: { failedLogins: megabytes(size), perThousand, full: megabytes(full), most: megabytes(most) },
    }
  },
}
