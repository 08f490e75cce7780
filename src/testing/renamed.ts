import { gone, PAGE } from '../options/misuse.js'

/*
 * The names of earlier releases. Each throws an error that says what to do. They go at 1.0.0.
 */

/** @deprecated Call `storeContract`. */
export const sessionStoreContract = gone('sessionStoreContract is now a part of storeContract()', PAGE.stores)
/** @deprecated Call `storeContract`. */
export const codeStoreContract = gone('codeStoreContract is now a part of storeContract()', PAGE.stores)
