/** Error for a store that can't be opened; the message names its file or address, without credentials, and the reason. */
export class StoreOpenError extends Error {
  readonly code = 'store_open_failed';
  /** The file or address. */
  readonly file: string;
  readonly reason: string;

  constructor(file: string, reason: string, cause?: unknown) {
    super(`${file}: ${reason}`, { cause });
    this.name = 'StoreOpenError';
    this.file = file;
    this.reason = reason;
  }
}
