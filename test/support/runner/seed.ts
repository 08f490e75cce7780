import fc from 'fast-check'

const { TEST_SEED = '19', MUTATION_ROOM } = process.env

// Each run has the same values, so that it fails only because of a change. `npm run fuzz` draws new ones. A mutant needs no smaller example.
fc.configureGlobal({
  seed: TEST_SEED === 'new' ? Math.floor(Math.random() * 2 ** 31) : Number(TEST_SEED),
  endOnFailure: MUTATION_ROOM !== undefined,
})
