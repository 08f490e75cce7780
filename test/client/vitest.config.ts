import { defineConfig, mergeConfig } from 'vitest/config'
import shared from '../vitest.config.js'

// These runs take minutes, so they have their own commands and are not tests.
const { projects: _, reporters: __, ...test } = shared.test ?? {}
export default mergeConfig(
  { ...shared, test },
  defineConfig({
    test: {
      include: ['test/client/**/*.run.ts'],
      testTimeout: 1_800_000,
      reporters: ['default'],
      // Other clients have rejections that nobody handles.
      dangerouslyIgnoreUnhandledErrors: true,
    },
  }),
)
