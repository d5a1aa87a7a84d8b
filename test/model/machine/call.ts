import { request as httpRequest } from 'node:http';

/** What a client sends. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
}

/** What became of it. */
export interface Answered {
  /** 0: there was no whole response. */
  readonly status: number;
  readonly setCookies: readonly string[];
  /** The body; undefined if it isn't JSON. */
  readonly json: any;
  /** The code of an error in the body, or why there was no response. */
  readonly code: string;
}

/** Longer than any fault lasts: what takes longer hangs. */
export const callTimeoutMs = 15_000;

/** Sends a request on a connection of its own. Never rejects. */
export function call(port: number, { method, path, headers = {}, json, form }: Call): Promise<Answered> {
  const body =
    json !== undefined ? JSON.stringify(json) : form && new URLSearchParams(form as never).toString();
  const type = json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  const sent: Record<string, string> = { ...headers };
  if (body !== undefined) {
    sent['content-type'] = type;
    sent['content-length'] = String(Buffer.byteLength(body));
  }
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, setCookies: [], json: undefined, code: error.code ?? error.message });
    const options = { host: '127.0.0.1', port, method, path, headers: sent, agent: false } as const;
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const parsed = parse(Buffer.concat(chunks).toString());
        const { 'set-cookie': setCookies = [] } = response.headers;
        resolve({ status: response.statusCode!, setCookies, json: parsed, code: parsed?.code ?? '' });
      });
    });
    const timer = setTimeout(() => request.destroy(new Error('hangs')), callTimeoutMs);
    request.on('close', () => clearTimeout(timer));
    request.on('error', fail);
    request.end(body);
  });
}

function parse(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
