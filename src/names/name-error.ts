/** The error of a failed lookup of a host name; `message` and `code` are fit for a log or a connection's error. */
export class NameError extends Error {
  /** `ENOTFOUND`: there is no such name. `EAI_AGAIN`: the lookup failed, for example because no name server responded in time. */
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';

  constructor(code: NameError['code'], host: string, detail?: string) {
    const text = code === 'ENOTFOUND' ? 'no such host' : 'name servers unavailable for';
    super(detail === undefined ? `${text} ${host}` : `${text} ${host} (${detail})`);
    this.name = 'NameError';
    this.code = code;
  }
}
