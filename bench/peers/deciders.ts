import { checkLoad } from '../load/check-load.ts';
import { urlOf } from '../measure.ts';
import { forged, spoil } from '../probe.ts';
import { ask, connectChecks, questionOf, subjectIn } from '../programs/check-client.ts';
import { startKeyService } from './key-service.ts';
import { asPeer } from './launch.ts';
import type { Peer, RunningPeer } from './peer.ts';
import { inspectAccessLog, posternKey } from './postern.ts';
import { type DecisionMode, startDeciding } from './postern-deciding.ts';
import { staticCredentials } from './static-keys.ts';

const identity = 'X-Auth-Subject';

/** The small service that is asked in the row `nginx-auth-request`. */
export const keyService: Peer = {
  name: 'key-service',
  description: 'node:http with a Map',
  refusal: 401,
  identity,
  version: () => process.versions.node,
  async start(surroundings) {
    const { port, program } = await startKeyService(surroundings, 'key-service');
    return asPeer(surroundings, port, staticCredentials(surroundings), [program]);
  },
  prove: proveByAnswer,
};

/** What a proxy asks with, beside the credential. */
const questions: Readonly<Record<DecisionMode, Pick<RunningPeer, 'target' | 'headers' | 'generator'>>> = {
  nginx: {
    target: '/',
    headers: {
      'X-Original-Method': 'GET',
      'X-Original-URI': '/api/store/item',
      'X-Forwarded-For': '192.0.2.7',
    },
  },
  envoy: { target: '/check/api/store/item', headers: { 'X-Forwarded-For': '192.0.2.7' } },
  envoy_grpc: { generator: checkLoad },
};

function createDecider(mode: DecisionMode, description: string): Peer {
  const name = `decisions-${mode.replace('_', '-')}`;
  return {
    name,
    description,
    refusal: 401,
    identity,
    version: posternKey.version,
    async start(surroundings) {
      const { port, postern, credentials } = await startDeciding(surroundings, name, mode);
      return {
        ...asPeer(surroundings, port, credentials, [postern]),
        ...questions[mode],
        inspect: (requests) => inspectAccessLog(postern.outputFile, requests),
      };
    },
    prove: mode === 'envoy_grpc' ? proveByCheck : proveByAnswer,
  };
}

/** Postern as nginx asks it. */
export const decidesForNginx = createDecider(
  'nginx',
  'Postern with API keys, asked as nginx asks: scopes, every identity header, access log to a file',
);

/** Those who decide for other proxies, each asked as its proxy asks. */
export const deciders: readonly Peer[] = [
  keyService,
  decidesForNginx,
  createDecider('envoy', 'the same, asked as Envoy asks over HTTP'),
  createDecider('envoy_grpc', 'the same, asked by gRPC'),
];

async function proveByAnswer(running: RunningPeer): Promise<void> {
  const { header, values } = running.credentials;
  const answer = async (value: string) => {
    const claimed = { ...running.headers, [identity]: forged, [header]: value };
    const response = await fetch(urlOf(running), { headers: claimed });
    await response.arrayBuffer();
    return response;
  };
  const good = values.at(-1) ?? '';
  const { status } = await answer(spoil(good));
  if (status !== 401) throw new Error(`answered ${status} to a bad credential, not 401`);
  const allowed = await answer(good);
  if (!allowed.ok) throw new Error(`answered ${allowed.status} to a good credential`);
  requireSubject(allowed.headers.get(identity) ?? undefined);
}

async function proveByCheck({ port, credentials: { header, values } }: RunningPeer): Promise<void> {
  const session = await connectChecks(port);
  const answer = (value: string) =>
    ask(session, questionOf(header, value, { [identity.toLowerCase()]: forged }));
  const good = values.at(-1) ?? '';
  const refused = await answer(spoil(good));
  if (refused.denied_response?.status.code !== 401) throw new Error('did not answer 401 to a bad credential');
  requireSubject(subjectIn(await answer(good)));
  session.close();
}

function requireSubject(subject = ''): void {
  if (subject === '' || subject === forged) throw new Error(`answered a good credential without ${identity}`);
}
