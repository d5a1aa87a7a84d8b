/** The write-ahead log of a database. */
export interface LogState {
  readonly bytes: number;
  /** Time for which a snapshot has kept the log from being emptied, ms; 0 while none does. */
  readonly heldMs: number;
}

/** Notifications about the file of a store, which is available at first. */
export interface FileEvents {
  /** Called each time that the file fails, and again when the file itself is gone. */
  onUnavailable?(reason: string): void;
  onAvailable?(): void;
  /** The write-ahead log has grown because someone holds a snapshot; called again whenever it has doubled. */
  onLogHeld?(state: LogState): void;
  /** The write-ahead log is small again. */
  onLogEmptied?(): void;
}
