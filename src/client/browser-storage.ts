/** The part of `localStorage` and `sessionStorage` that the client uses. */
export interface BrowserStorage {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
  removeItem(name: string): void
}
