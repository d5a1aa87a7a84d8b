import { connect } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { startRelayListener } from './relay-listener.ts';

/** A request as it was on the wire, and the head of its response. */
export interface Exchange {
  /** Tells it from the others of its relay. */
  readonly id: string;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  /** Value of a header of the request, by its name in lower case; undefined where it isn't there. */
  sent(name: string): string | undefined;
  /** 0 before the response came. */
  readonly status: number;
  /** Value of `Location`; undefined where it isn't there. */
  readonly location: string | undefined;
  /** Values of `Set-Cookie`. */
  readonly setCookies: readonly string[];
}

/** A relay between HTTP/1.1 clients and a server. */
export interface RecordingRelay {
  readonly port: number;
  /** What passed since the start, by connection and then in order. Bodies that look like heads are none of a browser's. */
  exchanges(): readonly Exchange[];
}

interface Passed {
  up: string;
  down: string;
}

/** Starts one in front of that loopback port; it ends with the test. */
export async function startRecordingRelay(t: TestScope, targetPort: number): Promise<RecordingRelay> {
  const all: Passed[] = [];
  const { port } = await startRelayListener(t, (client) => {
    const passed: Passed = { up: '', down: '' };
    all.push(passed);
    const server = connect(targetPort, '127.0.0.1');
    client.on('data', (piece) => {
      passed.up += piece.toString('latin1');
    });
    server.on('data', (piece) => {
      passed.down += piece.toString('latin1');
    });
    client.pipe(server).pipe(client);
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', cut).on('close', cut);
    return { cut };
  });
  return { port, exchanges: () => all.flatMap((passed, index) => exchangesOf(passed, String(index))) };
}

function exchangesOf({ up, down }: Passed, connection: string): Exchange[] {
  const answers = [...down.matchAll(/HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r\n]+\r\n)*)/g)];
  const requests = up.matchAll(/([A-Z]+) (\S+) HTTP\/1\.1\r\n((?:[^\r\n]+\r\n)*)/g);
  return [...requests].map(([, method = '', target = '', lines = ''], index) => {
    const sent = (name: string) => valuesOf(lines, name)[0];
    const [, status = '0', answer = ''] = answers[index] ?? [];
    return {
      id: `${connection}.${index}`,
      ...{ method, target, sent, host: sent('host') ?? '' },
      status: Number(status),
      location: valuesOf(answer, 'location')[0],
      setCookies: valuesOf(answer, 'set-cookie'),
    };
  });
}

function valuesOf(lines: string, name: string): string[] {
  return lines
    .split('\r\n')
    .map((line) => line.split(/:\s*(.*)/, 2))
    .filter(([each = '']) => each.toLowerCase() === name)
    .map(([, value = '']) => value);
}
