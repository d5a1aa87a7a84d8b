import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { onFreePort } from '../support/servers/free-port.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { requireInstalled } from './installed.ts';
import { type Ended, runProgram, startProgram } from './programs.ts';
import { filesNamedIn, recipeOf, type Written } from './recipes.ts';
import { type RecordingRelay, startRecordingRelay } from './recording-relay.ts';
import { spellingsOf } from './spellings.ts';

/** Where an application is started. */
export interface ApplicationPlace {
  /** A folder of its own, which is its home, too. */
  readonly folder: string;
  readonly port: number;
  /** The gateway, as clients see it. */
  readonly origin: string;
  /** An API key with every scope of the recipe; empty if it has none. */
  readonly key: string;
}

/** A program behind one upstream. */
export interface ApplicationProgram {
  readonly command: (place: ApplicationPlace) => readonly [program: string, ...args: string[]];
  readonly env?: (place: ApplicationPlace) => Readonly<Record<string, string>>;
  /** A path that responds once it is ready, with anything but 5xx. */
  readonly readyPath?: string;
  /** Default 60 s. */
  readonly readyMilliseconds?: number;
}

/** An application, and the recipe by which it is put behind the gateway. */
export interface ApplicationKind extends ApplicationProgram {
  /** Beginning of the heading of its recipe. */
  readonly recipe: string;
  /** Files without which the test is skipped. */
  readonly needs: readonly string[];
  /** Sections of the configuration that a test has besides those of the recipe. */
  readonly more?: Written;
  /** Content of the files that the recipe names. */
  readonly secret?: string;
  /** Programs behind other upstreams, by their names; null where nothing is to be. */
  readonly beside?: Readonly<Record<string, ApplicationProgram | null>>;
}

/** An application that runs behind a gateway. */
export interface RunningApplication extends ApplicationPlace {
  readonly gateway: TestGateway;
  /** Mints another key of the administrator's. */
  mintKey(scopes: readonly string[]): Promise<string>;
  /** Runs a client to its end, in a folder of its own unless `folder` is given. */
  run(command: readonly [string, ...string[]], more?: ClientPlace): Promise<Ended>;
  /** The folder of its clients. */
  readonly clients: string;
  /** What the gateway has sent to the application so far. */
  sent(): string;
  /** The gateway's credentials that a browser got, to be watched for as well. */
  watch(secret: string): void;
  /** What the application has printed. */
  printed(): string;
}

/** Where and with what a client runs. */
export interface ClientPlace {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly folder?: string;
  readonly milliseconds?: number;
}

/**
 * Starts an application and, in front of it, a gateway by the text of its recipe; null, and a visible skip, if it isn't installed.
 * No credential of the gateway's may reach the application, in any spelling: that is judged at the end of the test.
 */
export async function startApplication(t: Test, kind: ApplicationKind): Promise<RunningApplication | null> {
  if (!requireInstalled(t, kind.needs)) return null;
  const folder = mkdtempSync(join(tmpdir(), 'postern-application-'));
  const [clients, traffic] = [join(folder, 'clients'), join(folder, 'traffic')];
  mkdirSync(clients);
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  writeFileSync(traffic, '');
  const relay = await startRecordingRelay(t, traffic);
  const beside: Record<string, RecordingRelay> = {};
  for (const name of Object.keys(kind.beside ?? {})) beside[name] = await startRecordingRelay(t, traffic);
  const config = configurationOf(kind, (upstream) => (beside[upstream] ?? relay).port);
  const { gateway, origin } = await startGatewayAt(t, join(folder, 'gateway'), config, kind.secret);
  const watch = (secret: string) => {
    for (const spelling of spellingsOf(secret)) gateway.secrets.add(spelling);
  };
  t.teardown(() => {
    const leaks = gateway.secrets.leaks(traffic);
    if (leaks.length > 0)
      throw new Error(`${leaks.length} credentials of the gateway reached the application`);
  });
  const mint = await becomeAdministrator(gateway, config.api_path ?? '/api');
  const mintKey = async (scopes: readonly string[]) => {
    const key = await mint(scopes);
    watch(key);
    return key;
  };
  const scopes = Object.keys(config.scopes);
  const key = scopes.length === 0 ? '' : await mintKey(scopes);
  const serve = (name: string, program: ApplicationProgram, relay: RecordingRelay) => {
    const home = join(folder, name);
    mkdirSync(home);
    const place = { folder: home, port: guessPort(), origin, key };
    return startServing(t, name, program, place, relay);
  };
  for (const [name, program] of Object.entries(kind.beside ?? {}))
    if (program !== null) await serve(name, program, beside[name]!);
  const { place, printed } = await serve('application', kind, relay);
  return {
    ...place,
    gateway,
    clients,
    mintKey,
    watch,
    run: (command, more = {}) => runProgram(command, { folder: clients, ...more }),
    sent: () => readFileSync(traffic, 'latin1'),
    printed,
  };
}

/** Starts a program, and has the relay lead to it once it is ready. */
async function startServing(
  t: Test,
  name: string,
  { command, env, readyPath = '/', readyMilliseconds }: ApplicationProgram,
  place: ApplicationPlace,
  relay: RecordingRelay,
) {
  const { folder, port } = place;
  const serving = startProgram(t, { command: command(place), folder, env: env?.(place) ?? {} });
  relay.target = port;
  const isReady = async () => {
    serving.assertRuns();
    // What starts needs the processor more.
    await sleep(50);
    const { status } = await fetch(`http://127.0.0.1:${port}${readyPath}`, { redirect: 'manual' });
    return status < 500;
  };
  await eventually(`${name} on port ${port}`, isReady, readyMilliseconds).catch((error) => {
    throw new Error(serving.printed().slice(-3_000), { cause: error });
  });
  return { place, printed: serving.printed };
}

/** The recipe with its upstreams at relays; what only a machine with a name and a certificate has is left out. */
function configurationOf(
  { recipe, more = {} }: ApplicationKind,
  portOf: (upstream: string) => number,
): Written {
  const config: Written = { ...recipeOf(recipe).config, trusted_proxies: [], ...more };
  const upstreams = Object.entries<Written>(config.upstreams).map(([name, upstream]) => {
    const url = new URL(upstream.url);
    url.host = `127.0.0.1:${portOf(name)}`;
    return [name, { ...upstream, url: url.href.replace(/\/$/, '') }];
  });
  return { ...config, upstreams: Object.fromEntries(upstreams) };
}

async function startGatewayAt(t: Test, folder: string, config: Written, secret: string | undefined) {
  mkdirSync(folder);
  for (const file of filesNamedIn(config).map((name) => join(folder, name))) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, secret ?? 'a secret of the application');
  }
  let gateway: TestGateway | undefined;
  const port = await onFreePort(async (port) => {
    const place = { base_url: `http://127.0.0.1:${port}`, listen: { port } };
    gateway = await startTestGateway(t, { folder, config: { ...config, ...place } });
  });
  return { gateway: gateway!, origin: `http://127.0.0.1:${port}` };
}

/** Activates the first administrator, and signs in; gives the function that mints keys. */
async function becomeAdministrator({ api }: TestGateway, base: string) {
  const { username, password } = administrator;
  const json = { token: bootstrapToken, username, password };
  await api.send({ method: 'POST', path: `${base}/bootstrap/activate`, json });
  const signedIn = await api.send({
    method: 'POST',
    path: `${base}/login/access-token`,
    form: { username, password },
  });
  return async (scopes: readonly string[]): Promise<string> => {
    const minted = await api.send({
      method: 'POST',
      path: `${base}/admin/api-keys/`,
      bearer: signedIn.json.access_token,
      json: { label: 'a program', scopes },
    });
    if (minted.status !== 201) throw new Error(`minting got ${minted.status} ${minted.text}`);
    return minted.json.key;
  };
}
