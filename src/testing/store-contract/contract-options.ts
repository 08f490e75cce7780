/** The accounts of what the checks add. */
export interface ContractAccounts {
  readonly accountId: string
  readonly otherAccountId: string
}
