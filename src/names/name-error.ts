/** A host name has no addresses; `message` and `code` are as a log or a connection's error should state it. */
export class NameError extends Error {
  /** `ENOTFOUND`: there is no such name. `EAI_AGAIN`: no name server has said so, or anything else, in time. */
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';

  constructor(code: NameError['code'], host: string, detail?: string) {
    const text = code === 'ENOTFOUND' ? 'no such host' : 'name servers unavailable for';
    super(detail === undefined ? `${text} ${host}` : `${text} ${host} (${detail})`);
    this.name = 'NameError';
    this.code = code;
  }
}
