/** A fault, and the model that must find it. */
export interface Fault {
  /** The fault, in words. */
  readonly what: string
  /** The name of the model's file. */
  readonly model: string
  /** The file below `src`. */
  readonly file: string
  /** Text that the file holds once. */
  readonly from: string
  /** The text that plants the fault. */
  readonly to: string
}
export const FAULTS: readonly Fault[]
