import type { FieldBlock } from '../http1/message/head-text.ts';
import type { ResponseWriter } from '../http1/server/connection-options.ts';
import { type CheckResponse, overwrite, type SetHeader } from './check-protocol.ts';
import { removalHeader } from './modes.ts';
import { utf8Text } from './utf8-bytes.ts';

/** Codes of `google.rpc.Status`: Envoy takes any but 0 for a refusal. */
const ok = 0;
const permissionDenied = 7;

/** Headers of Postern's answer that aren't for the forwarded request. */
const ofResponse: ReadonlySet<string> = new Set(['cache-control', removalHeader]);

/** Receives the answer to a check request as an HTTP response, and converts it to Envoy's message. */
export class CheckAnswer implements ResponseWriter {
  status = 0;
  ended = false;
  bodyBytes = 0;
  closes = false;
  readonly cutShort = false;
  #fields: readonly string[] = [];
  #body = '';
  readonly #onEnd: (response: CheckResponse) => void;

  constructor(onEnd: (response: CheckResponse) => void) {
    this.#onEnd = onEnd;
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  begin(status: number, fields: readonly string[], _length: number, block: FieldBlock | null = null): void {
    this.status = status;
    this.#fields = block === null ? fields : [...fields, ...block.fields];
  }

  write(bytes: Buffer): boolean {
    this.bodyBytes += bytes.length;
    this.#body += bytes.toString();
    return true;
  }

  end(bytes?: Buffer): void {
    if (bytes !== undefined) this.write(bytes);
    this.ended = true;
    this.#onEnd(this.status === 200 ? this.#allowed() : this.#denied());
  }

  flush(): void {}

  sendInterim(): void {}

  switchProtocols(): void {
    throw new TypeError('a question can not be upgraded');
  }

  #allowed(): CheckResponse {
    const headers: SetHeader[] = [];
    let removed: string[] = [];
    for (let i = 0; i < this.#fields.length; i += 2) {
      const name = this.#fields[i]!.toLowerCase();
      const value = this.#fields[i + 1]!;
      if (name === removalHeader) removed = value.split(',');
      if (!ofResponse.has(name)) headers.push(setting(name, value));
    }
    return { status: { code: ok }, ok_response: { headers, headers_to_remove: removed } };
  }

  #denied(): CheckResponse {
    const headers: SetHeader[] = [];
    for (let i = 0; i < this.#fields.length; i += 2)
      headers.push(setting(this.#fields[i]!.toLowerCase(), this.#fields[i + 1]!));
    const { status } = this;
    return {
      status: { code: permissionDenied },
      denied_response: { status: { code: status }, headers, body: this.#body },
    };
  }
}

/** A header to set; `bytes` is UTF-8 as latin1, and is decoded because Envoy reads no `raw_value` in an answer. */
function setting(key: string, bytes: string): SetHeader {
  return { header: { key, value: utf8Text(bytes) }, append_action: overwrite, keep_empty_value: true };
}
