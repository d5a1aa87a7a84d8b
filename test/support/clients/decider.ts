import { type DecisionMode, decisionModes } from '../../../src/config/sections/forward-auth.ts';
import type { TestScope } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { guessPort } from '../servers/loopback-port.ts';
import { connectCheckClient } from './check-client.ts';
import { describingLines, type HttpMode, sendQuestion } from './decisions.ts';

/** What a proxy is told, whatever its kind. */
export interface Told {
  readonly status: number;
  /** `X-Auth-Code`; empty where the request is allowed. */
  readonly code: string;
  /** `X-Auth-Subject`; empty where there is none. */
  readonly subject: string;
}

/** A gateway of its own process that decides for every kind of proxy. */
export interface Decider {
  readonly gateway: GatewayProcess;
  /** Asks about `GET /api/store/x` with that header, as each kind of proxy does; by mode. */
  ask(name: string, value: string): Promise<Record<DecisionMode, Told>>;
}

const path = '/api/store/x';

/** Starts it by `start`, which is given the `forward_auth` of its configuration. */
export async function startDecider(
  t: TestScope,
  start: (config: { readonly forward_auth: object }) => Promise<GatewayProcess>,
): Promise<Decider> {
  const ports = decisionModes.map(guessPort);
  const gateway = await start({ forward_auth: decisionModes.map((mode, i) => ({ mode, port: ports[i] })) });
  const { check } = connectCheckClient(t, ports[decisionModes.indexOf('envoy_grpc')]!);
  const askHttp = async (mode: HttpMode, port: number, name: string, value: string): Promise<Told> => {
    const [requestLine, described] = describingLines(mode, 'GET', path);
    const client = ['Host: app.example', 'X-Forwarded-For: 192.0.2.7', `${name}: ${value}`];
    const { status, values } = await sendQuestion(port, requestLine, [...client, ...described]);
    return told(status, values('x-auth-code')[0], values('x-auth-subject')[0]);
  };
  const askGrpc = async (name: string, value: string): Promise<Told> => {
    const headerMap = [
      [':method', 'GET'],
      [':path', path],
      [':authority', 'app.example'],
      [name.toLowerCase(), value],
    ] as const;
    const { status, headers } = await check({ path, headerMap });
    return told(status, headers['x-auth-code'], headers['x-auth-subject']);
  };
  return {
    gateway,
    async ask(name, value) {
      const asked = decisionModes.map(async (mode, i) => [
        mode,
        await (mode === 'envoy_grpc' ? askGrpc(name, value) : askHttp(mode, ports[i]!, name, value)),
      ]);
      return Object.fromEntries(await Promise.all(asked));
    },
  };
}

function told(status: number, code = '', subject = ''): Told {
  return { status, code, subject };
}
