import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type CheckResponse, checkPath, createCheckCodec } from '../../src/forward-auth/check-protocol.ts';

const { encodeRequest, decodeResponse } = createCheckCodec();
const headers = {
  ':method': 'POST',
  ':path': checkPath,
  'content-type': 'application/grpc',
  te: 'trailers',
};
/** Before a message: whether it is compressed, and its length in four bytes. */
const prefixBytes = 5;

/** A question as Envoy asks it, ready to be sent. */
export function questionOf(header: string, value: string, claimed: Readonly<Record<string, string>> = {}) {
  const fields = { 'user-agent': 'bench', accept: '*/*', 'x-forwarded-proto': 'http', ...claimed };
  const all = Object.entries({ ...fields, [header.toLowerCase()]: value });
  const map = all.map(([key, text]) => ({ key, value: '', raw_value: Buffer.from(text) }));
  const http = {
    method: 'GET',
    path: '/api/store/item',
    host: 'app.example',
    headers: {},
    header_map: { headers: map },
  };
  const source = { address: { socket_address: { address: '192.0.2.7' } } };
  const message = encodeRequest({ attributes: { source, request: { http } } });
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Connects to a listener for Envoy's questions by gRPC, without TLS. */
export async function connectChecks(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, 'connect');
  return session;
}

/** Asks, and resolves with the answer; rejects if there is none. */
export function ask(session: ClientHttp2Session, question: Buffer): Promise<CheckResponse> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      const bytes = Buffer.concat(chunks);
      if (bytes.length < prefixBytes) reject(new Error('no answer'));
      else resolve(decodeResponse(bytes.subarray(prefixBytes)));
    });
    stream.end(question);
  });
}

/** Who is calling, by an answer; undefined where it refuses, or names nobody. */
export function subjectIn({ status, ok_response: allowed }: CheckResponse): string | undefined {
  if (status.code !== 0) return undefined;
  return allowed?.headers.find(({ header }) => header.key.toLowerCase() === 'x-auth-subject')?.header.value;
}
