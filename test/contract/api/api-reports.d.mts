/** Folder of the reports, which git keeps. */
export const REPORTS: string

/** Returns the reports on the public types as they are in `src`: by file name, one for each entry of package.json that has types. */
export function apiReports(): Map<string, string>
