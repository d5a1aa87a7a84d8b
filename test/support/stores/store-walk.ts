import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addUser } from '../administration/accounts.ts';
import type { ApiClient, ApiResponse } from '../clients/api-client.ts';
import { runPostern } from '../gateway/command.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { cookieOf } from '../gateway/replicas.ts';

/** What a walk left in a session store. */
export interface Walk {
  /** Refresh cookies, `name=value`, including those of ended sessions. */
  readonly cookies: readonly string[];
  readonly bearers: readonly string[];
  readonly passwords: readonly string[];
  /** A session that is still alive, and its user. */
  readonly alive: { readonly cookie: string; readonly bearer: string; readonly userId: string };
  /** The cookies of ended sessions, by how they ended. */
  readonly ended: Readonly<Record<'sign-out' | 'reuse' | 'command', string>>;
}

/** The grace period that {@link walkThroughStore} requires the gateways to be configured with, in ms. */
export const walkGraceMs = 100;

const password = 'nanoseconds are this long';

/**
 * Takes a session store through everything that a gateway and a command do with one: sign-ins that fail and succeed,
 * requests at both gateways, refreshes that confirm, rotate and are reuse, a sign-out, and the end of all sessions of a
 * user. Throws on any unexpected response.
 */
export async function walkThroughStore(
  one: GatewayProcess,
  other: GatewayProcess,
  name = 'grace',
): Promise<Walk> {
  const cookies: string[] = [];
  const bearers: string[] = [];
  const keep = (response: ApiResponse) => {
    cookies.push(cookieOf(response));
    bearers.push(response.json.access_token);
    return { cookie: cookies.at(-1)!, bearer: bearers.at(-1)! };
  };
  const user = await addUser(one.folder, { username: name, password, scopes: ['store:read'] });
  const leaving = `${name}-leaving`;
  await addUser(one.folder, { username: leaving, password, scopes: ['store:read'] });
  const wrong = `${password}, or not`;
  expect(await login(one.api, name, wrong), 401);
  const signIn = async (username: string) => keep(expect(await login(one.api, username, password), 200));

  const alive = await signIn(name);
  for (const { api } of [one, other])
    expect(await api.send({ path: '/api/store/x', bearer: alive.bearer }), 200);
  const leaver = await signIn(leaving);
  const out = await signIn(name);
  expect(await other.api.send({ path: '/api/logout', bearer: out.bearer, cookie: out.cookie }), 200);

  const reused = await signIn(name);
  let { cookie } = reused;
  for (let rotation = 1; rotation <= 2; rotation++) {
    await sleep(walkGraceMs + 10);
    cookie = keep(expect(await other.api.refresh(cookie), 200)).cookie;
    keep(expect(await one.api.refresh(cookie), 200));
  }
  expect(await one.api.refresh(reused.cookie), 401);

  await endUser(one.folder, leaving);
  expect(await other.api.refresh(leaver.cookie), 401);
  expect(await one.api.refresh(alive.cookie), 200);
  return {
    cookies,
    bearers,
    passwords: [password, wrong],
    alive: { ...alive, userId: user.id },
    ended: { 'sign-out': out.cookie, reuse: reused.cookie, command: leaver.cookie },
  };
}

/** Ends all sessions of a user by the command line, under the configuration of a gateway in that folder. */
async function endUser(folder: string, username: string): Promise<void> {
  const configFile = readdirSync(folder).find((file) => file.endsWith('.yaml'))!;
  const args = ['user', 'disable', username, '--config', join(folder, configFile)];
  const { code, stderr } = await runPostern(args);
  if (code !== 0) throw new Error(stderr);
}

function login(api: ApiClient, username: string, tried: string): Promise<ApiResponse> {
  const form = { username, password: tried };
  return api.send({ method: 'POST', path: '/api/login/access-token', form });
}

function expect(response: ApiResponse, status: number): ApiResponse {
  if (response.status !== status)
    throw new Error(`${response.status} instead of ${status}: ${response.text}`);
  return response;
}
