/** What a configuration says about its stores; nothing for those of a test gateway, in SQLite. */
export interface StoresConfig {
  readonly stores?: { readonly records: string; readonly sessions: string };
}
