import { defineConfig, mergeConfig } from 'vitest/config'
import shared from '../vitest.config.js'

// The comparison takes minutes, so it has its own command and is not a test.
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
