import type { Test } from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import type { SeenRequest } from '../support/servers/recording-upstream.ts';
import { manyScopes, type ProxyBench } from './proxy-bench.ts';

const cookie = 'theme=dark; size=large';
const path = '/api/store/whole';
/** Of every proxy's buffers. */
const largestBody = 70_000;

/** Sizes from up to, far enough apart that the small size of the tests takes few of them. */
function sizes(from: number, to: number, count: number): number[] {
  const step = (to - from) / (isLong ? count * 10 : count);
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => Math.round(from + index * step));
}

/**
 * With heads and bodies around the sizes of buffers: of what is added to a request a proxy may leave out what finds no room,
 * without an error, and then the client chooses what that is. Returns how many reached the service.
 */
export async function judgeWhole(t: Test, bench: ProxyBench): Promise<number> {
  const { key, bearer, send } = bench;
  const callers = { key: `X-API-Key: ${key}`, session: `Authorization: Bearer ${bearer}` };
  let forwarded = 0;
  const wrong: string[] = [];
  for (const [kind, credential] of Object.entries(callers)) {
    const judge = (what: string, status: number, mustPass: boolean, bodyBytes: number) => {
      const seen = bench.upstream.seen.splice(0);
      forwarded += seen.length;
      if (mustPass && status !== 200) wrong.push(`${kind}, ${what}: ${status}`);
      if (seen.length !== (status === 200 ? 1 : 0))
        wrong.push(`${kind}, ${what}: ${status}, ${seen.length} seen`);
      for (const request of seen)
        for (const name of missingIn(request, kind, bodyBytes))
          wrong.push(`${kind}, ${what}: without ${name}`);
    };
    const lines = [credential, `Cookie: ${cookie}`];
    for (const size of [0, ...sizes(8_000, largestBody, 20)]) {
      const status = await send(
        `POST ${path} HTTP/1.1`,
        [...lines, `Content-Length: ${size}`],
        'b'.repeat(size),
      );
      judge(`a body of ${size} bytes`, status, bench.isRoomy, size);
    }
    for (const size of sizes(6_000, 16_500, 25))
      for (const shape of ['one', 'many']) {
        const client = shape === 'one' ? [`X-Long: ${'h'.repeat(size)}`] : manyLines(size);
        judge(
          `${shape} of ${size} bytes`,
          await send(`GET ${path} HTTP/1.1`, [...lines, ...client]),
          false,
          0,
        );
      }
    for (let count = 60; count <= 130; count += isLong ? 1 : 7) {
      const client = Array.from({ length: count }, (_, index) => `X-Line-${index}: x`);
      judge(`${count} headers`, await send(`GET ${path} HTTP/1.1`, [...lines, ...client]), false, 0);
    }
  }
  t.strictSame(wrong.slice(0, 20), [], `${wrong.length} are wrong`);
  t.ok(forwarded > 0, `${forwarded} were forwarded`);
  return forwarded;
}

/** Eight headers of so many bytes together. */
function manyLines(size: number): string[] {
  return Array.from({ length: 8 }, (_, index) => `X-Part-${index}: ${'h'.repeat(size / 8)}`);
}

/** What the service should have been told, and was not. */
function missingIn(request: SeenRequest, kind: string, bodyBytes: number): string[] {
  const credentialId = kind === 'key' ? 'x-auth-key-id' : 'x-auth-session-id';
  const isOnce = (name: string) => {
    const values = request.values(name);
    return values.length === 1 && values[0] !== '';
  };
  const missing = [
    'x-auth-subject',
    'x-auth-username',
    'x-auth-method',
    'x-auth-scopes',
    'x-auth-tenant',
    'x-auth-assertion',
    credentialId,
    'x-request-id',
  ].filter((name) => !isOnce(name));
  const scopes = new Set(request.values('x-auth-scopes').join().split(' '));
  if (kind === 'session' && !manyScopes.every((scope) => scopes.has(scope))) missing.push('every scope');
  if (request.values('cookie').join('; ') !== cookie) missing.push('its cookies');
  if (request.body.length !== bodyBytes) missing.push('its body');
  return missing;
}

/** Collected before it is forwarded, a slow body would arrive long after its credential was judged. */
export async function judgeFlow(t: Test, { key, proxyPort, upstream }: ProxyBench): Promise<void> {
  const half = 'x'.repeat(20_000);
  const framings: Record<string, [line: string, part: string, end: string]> = {
    length: [`Content-Length: ${2 * half.length}`, half, ''],
    chunks: ['Transfer-Encoding: chunked', `${half.length.toString(16)}\r\n${half}\r\n`, '0\r\n\r\n'],
  };
  for (const [name, [line, part, end]] of Object.entries(framings)) {
    const target = `/api/store/flow-${name}`;
    const connection = await connectRaw(proxyPort);
    const head = [`POST ${target} HTTP/1.1`, 'Host: app.example', `X-API-Key: ${key}`, line, '', ''];
    connection.write(head.join('\r\n') + part);
    await t.resolves(
      eventually(`${name}: the service has its head`, () => upstream.begun.includes(target)),
      `${name}: it reaches the service before its end`,
    );
    connection.write(part + end);
    t.equal((await connection.response()).status, 200, name);
    t.equal(upstream.seen.splice(0).at(-1)?.body.length, 2 * half.length, name);
    connection.reset();
  }
}
