import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import type { StoresConfig } from '../stores/stores-config.ts';
import { type Caller, callerMakers } from './role-callers.ts';
import { type RoleGateway, startRoleGateway } from './role-gateway.ts';
import { RoleRecords, type Values } from './role-records.ts';
import { loadRoleTable, type MatrixCall, type MatrixGrid } from './role-table.ts';
import { userPassword } from './user-administration.ts';

const collections = ['/api/admin/api-keys/', '/api/admin/users/', '/api/admin/scope-sets/'];

/**
 * Makes every call of the table with every credential for every record. A refused call must have changed neither its
 * record nor how many there are. `isPart`: each credential makes one of the calls that are judged alike, by turns.
 */
export async function testRoleMatrix(t: Test, stores: StoresConfig, isPart = false): Promise<void> {
  const matrix = new RoleMatrix(await startRoleGateway(t, stores));
  for (const grid of loadRoleTable()) await matrix.run(t, grid, isPart);
}

class RoleMatrix {
  readonly #gateway: RoleGateway;
  readonly #records: RoleRecords;
  readonly #callers = new Map<string, Caller>();

  constructor(gateway: RoleGateway) {
    this.#gateway = gateway;
    this.#records = new RoleRecords(gateway);
  }

  async run(t: Test, { title, calls, rows }: MatrixGrid, isPart: boolean): Promise<void> {
    const wrong: string[] = [];
    let asked = 0;
    for (const [callIndex, call] of calls.entries())
      for (const [rowIndex, { credential, cells }] of rows.entries()) {
        if (isPart && (callIndex + rowIndex) % calls.length !== 0) continue;
        for (const { column, expected } of cells) {
          const result = await this.#resultOf(call, credential, column);
          asked += 1;
          if (result !== expected)
            wrong.push(`${call.method} ${call.target} ${call.body}, ${credential}, ${column}: ${result}`);
        }
      }
    t.strictSame(wrong, [], `${title}: ${asked} cells`);
    t.strictSame(await this.#records.changed(), [], `${title}: what was refused changed nothing`);
    this.#records.forget();
    // Who was given a set is no longer what the table says.
    if (calls.some((call) => placeholdersOf(call).has('set'))) this.#forgetCallers();
  }

  async #resultOf(call: MatrixCall, credential: string, column: string): Promise<string> {
    const caller = await this.#caller(credential);
    const placeholders = placeholdersOf(call);
    const values = await this.#records.values(column, placeholders, caller);
    const before = call.method === 'POST' ? await this.#totals() : '';
    const response = await this.#send(call, values, caller);
    if (response.status < 300) {
      if (call.method !== 'GET') await this.#consume(call, credential, column, caller);
      return String(response.status);
    }
    const isUnchanged = call.method !== 'POST' || (await this.#totals()) === before;
    return `${response.status} ${response.json?.code}${isUnchanged ? '' : ', but something was made'}`;
  }

  #send({ method, target, body }: MatrixCall, values: Values, { credential }: Caller): Promise<ApiResponse> {
    const all = { ...values, new: this.#gateway.newName(), password: userPassword };
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: keyof typeof all) => all[name] ?? '');
    const json = body === null ? {} : { json: JSON.parse(fill(body)) };
    return this.#gateway.api.send({ method, path: fill(target), ...json, ...credential });
  }

  async #consume(call: MatrixCall, credential: string, column: string, caller: Caller): Promise<void> {
    this.#records.consume(column, placeholdersOf(call), caller);
    if (column === 'own' || call.target.startsWith('/api/self/')) this.#callers.delete(credential);
    if (!call.target.endsWith('?all=true')) return;
    this.#forgetCallers();
    this.#records.forget();
    await this.#gateway.signInAdministrator();
  }

  async #caller(name: string): Promise<Caller> {
    const made = this.#callers.get(name) ?? (await callerMakers[name]?.(this.#gateway));
    if (made === undefined) throw new Error(`no such credential: ${name}`);
    this.#callers.set(name, made);
    return made;
  }

  /** All but the one that takes a second to make, and may do nothing anyway. */
  #forgetCallers(): void {
    for (const name of this.#callers.keys()) if (name !== 'key: expired') this.#callers.delete(name);
  }

  /** How many keys, users and sets there are. */
  async #totals(): Promise<string> {
    const totals: number[] = [];
    for (const path of collections)
      totals.push((await this.#gateway.administer('GET', `${path}?size=1`, 200)).json.total);
    return totals.join(' ');
  }
}

const filledWhenSent = new Set(['new', 'password']);

function placeholdersOf({ target, body }: MatrixCall): ReadonlySet<string> {
  const names = [...`${target} ${body ?? ''}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  return new Set(names.filter((name) => !filledWhenSent.has(name)));
}
