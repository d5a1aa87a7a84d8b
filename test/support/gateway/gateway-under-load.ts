import { administrator, bootstrapToken, type TestScope } from './gateway.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';

/** Whether tests run at the size that is promised (`POSTERN_TEST_LONG`), or at one that every run can afford. */
export const isLong = process.env.POSTERN_TEST_LONG !== undefined;

/** A gateway in a process of its own, whose memory and descriptors are its alone, and a key that it takes. */
export interface GatewayUnderLoad extends GatewayProcess {
  readonly key: string;
  readonly pid: number;
  /** The bytes of a request with `Host`, the key and those lines. */
  raw(requestLine: string, ...lines: string[]): string;
}

/** Starts it; `config` replaces whole top-level sections. */
export async function startGatewayUnderLoad(t: TestScope, config: object): Promise<GatewayUnderLoad> {
  const gateway = await startGatewayProcess(t, { config });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  const { accessToken } = await gateway.api.signIn(username, password);
  const scopes = ['store:read', 'store:write'];
  const { key } = await gateway.api.mintKey(accessToken, { label: 'load', scopes });
  return {
    ...gateway,
    key,
    pid: gateway.pid!,
    raw: (requestLine, ...lines) =>
      [requestLine, 'Host: gateway.example', `X-API-Key: ${key}`, ...lines, '', ''].join('\r\n'),
  };
}

/** Runs `step` for 0 to `count` - 1, so many at a time. */
export async function repeat(
  count: number,
  parallel: number,
  step: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await step(next++);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
