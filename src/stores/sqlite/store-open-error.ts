/** A store's file that Postern refuses to start on; the message names the file and the reason. */
export class StoreOpenError extends Error {
  readonly code = 'store_open_failed';
  readonly file: string;
  readonly reason: string;

  constructor(file: string, reason: string, cause?: unknown) {
    super(`${file}: ${reason}`, { cause });
    this.name = 'StoreOpenError';
    this.file = file;
    this.reason = reason;
  }
}
