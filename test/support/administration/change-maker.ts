import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ApiRequest, ApiResponse } from '../clients/api-client.ts';
import { eventually } from '../eventually.ts';
import { runPostern } from '../gateway/command.ts';
import { testConfig } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { keysPath } from './key-administration.ts';
import { userPassword, usersPath } from './user-administration.ts';

/** Where scope sets are administered. */
export const setsPath = '/api/admin/scope-sets/';

/** A session in use. */
export interface HeldSession {
  readonly bearer: string;
  readonly cookie: string;
}

/** A change that is ready to be made, by one request or by starting a gateway with another configuration. */
export interface PreparedChange {
  readonly request: ApiRequest | ChangedConfiguration;
  /** A session that the change ends. */
  readonly ended?: HeldSession;
  /** A session that goes on either way. */
  readonly spared?: HeldSession;
  /** Of a change that the records hold nothing of but its audit line: whether it was made. */
  readonly isMade?: (make: ChangeMaker) => Promise<boolean>;
}

/** A configuration that a gateway applies when it starts. */
export interface ChangedConfiguration {
  readonly config: object;
  /** The configuration applied before. */
  readonly before: object;
}

/** Prepares a change. */
export type Prepare = (make: ChangeMaker) => Promise<PreparedChange>;

/** Prepares changes at a gateway, as an administrator with an API key. */
export class ChangeMaker {
  /** What the gateway was started with. */
  readonly config: object;
  readonly #gateway: GatewayProcess;
  readonly #apiKey: string;
  static #names = 0;

  constructor(gateway: GatewayProcess, config: object, apiKey: string) {
    this.#gateway = gateway;
    this.config = config;
    this.#apiKey = apiKey;
  }

  newName(): string {
    ChangeMaker.#names += 1;
    // Names are applied in order: it is the same each time.
    return `name ${String(ChangeMaker.#names).padStart(6, '0')}`;
  }

  request(method: string, path: string, json?: object): ApiRequest {
    return { method, path, apiKey: this.#apiKey, ...(json !== undefined && { json }) };
  }

  /** Throws when it is refused. */
  async make(method: string, path: string, json?: object): Promise<ApiResponse> {
    const response = await this.#gateway.api.send(this.request(method, path, json));
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response;
  }

  /** Applies a configuration that creates users. */
  async apply(config: object): Promise<void> {
    const file = join(this.#gateway.folder, `configuration-${process.hrtime.bigint()}.yaml`);
    writeFileSync(file, stringify(testConfig('builtin:echo', config)));
    await this.#command('user_created', ['config', 'apply', '--config', file]);
  }

  /** A token that lets the first administrator be activated again. */
  async bootstrapToken(): Promise<string> {
    const { configFile } = this.#gateway;
    return this.#command('bootstrap_token_reset', ['bootstrap-token', '--reset', '--config', configFile]);
  }

  /** Runs a command that leaves that event, and waits for the gateway to log it; gives what it printed. */
  async #command(event: string, args: readonly string[]): Promise<string> {
    const logged = () => this.#gateway.logLines().filter((line) => line.event === event).length;
    const before = logged();
    // A server that was killed may not be up yet.
    const { stdout } = await eventually(`postern ${args[0]}`, async () => {
      const result = await runPostern(args);
      if (result.code !== 0) throw new Error(result.stderr);
      return result;
    });
    await eventually('the gateway has logged what the command did', () => logged() > before);
    return stdout.trim();
  }

  async user(more: object = {}): Promise<{ readonly id: string; readonly username: string }> {
    const scopes = ['store:read', 'apikeys:write'];
    const body = { username: this.newName(), password: userPassword, scopes, ...more };
    return (await this.make('POST', usersPath, body)).json;
  }

  async scopeSet(): Promise<{ readonly id: string }> {
    const body = { name: this.newName(), scopes: ['store:read', 'store:write'] };
    return (await this.make('POST', setsPath, body)).json;
  }

  /** A key that the user made. */
  async keyOf(username: string, more: object = {}): Promise<{ readonly id: string; readonly key: string }> {
    const { accessToken } = await this.#gateway.api.signIn(username, userPassword);
    return this.#gateway.api.mintKey(accessToken, { label: 'of a user', scopes: ['store:read'], ...more });
  }

  /** A key minted with another one. */
  async mint(apiKey: string, json: object): Promise<void> {
    const { status, text } = await this.#gateway.api.send({ method: 'POST', path: keysPath, apiKey, json });
    if (status !== 201) throw new Error(`minting with a key was answered ${status} ${text}`);
  }

  async failToSignIn(username: string): Promise<void> {
    const form = { username, password: 'not the password' };
    const { status } = await this.#gateway.api.send({
      method: 'POST',
      path: '/api/login/access-token',
      form,
    });
    if (status !== 401) throw new Error(`a wrong password was answered ${status}`);
  }

  /** Signs in, and uses the session once. */
  async session(username: string): Promise<HeldSession> {
    const { accessToken: bearer, cookie } = await this.#gateway.api.signIn(username, userPassword);
    const { status } = await this.#gateway.api.send({ path: '/api/store/x', bearer });
    if (status !== 200) throw new Error(`a new session was answered ${status}`);
    return { bearer, cookie };
  }

  async userInSession(more: object = {}): Promise<{ readonly id: string; readonly ended: HeldSession }> {
    const { id, username } = await this.user(more);
    return { id, ended: await this.session(username) };
  }
}
