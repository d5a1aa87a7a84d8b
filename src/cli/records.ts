import { Audit } from '../administration/audit.ts';
import { operator } from '../administration/caller.ts';
import { withAbsolutePath } from '../config/absolute-paths.ts';
import type { Config } from '../config/sections/schema.ts';
import { parseRecordsAddress, type RecordsAddress } from '../config/values/store-addresses.ts';
import { openCopySource, openCopyTarget, type RecordsLocation } from '../runtime/stores.ts';
import { type CopyEnd, CopyRefusal, copyRecords, type TableSummary } from '../stores/sql/copy.ts';
import { type Call, Failure } from './command.ts';
import { readConfig, requireConfig } from './configuration.ts';
import { printJsonAlone } from './terminal.ts';
import { createCommandLog } from './with-stores.ts';

/** The environment variable with the password for an address that is given as an option. */
const passwordVariable = 'POSTERN_RECORDS_PASSWORD';

/**
 * `records copy [--from ADDRESS] [--to ADDRESS]`: copies all records to an empty store, and verifies them before they are kept.
 * The omitted address is `stores.records` of the configuration, with its password; `records_tls` applies to both.
 */
export async function copyAllRecords(call: Call): Promise<void> {
  const config = requireConfig(readConfig(call));
  if (call.text('from') === undefined && call.text('to') === undefined)
    throw new Failure('usage', 'records copy needs --from or --to; the configuration says the other one');
  const from = requireLocation(call, 'from', config);
  const to = requireLocation(call, 'to', config);
  // The source comes first, so that a wrong one leaves no new target behind.
  const source = await openCopySource(from);
  try {
    const target = await openCopyTarget(to, (file, mode) =>
      call.terminal.stderr.write(
        `postern: ${file} was accessible to other users (mode ${mode}); its mode was changed to 0600\n`,
      ),
    );
    try {
      await copyBetween(call, source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBetween(call: Call, source: CopyEnd, target: CopyEnd): Promise<void> {
  const { stderr } = call.terminal;
  const tell = (text: string) => stderr.write(`postern: ${text}\n`);
  const onTable = ({ table, rows }: TableSummary) => tell(`${table}: ${rows}`);
  tell(`copying the records of ${source.location} to ${target.location}`);
  // The event is written to the target records and to standard error, and logged by the first gateway on those records.
  const audit = new Audit({
    log: createCommandLog(call, 'auto'),
    keep() {},
    isForGateways: true,
    now: Date.now,
  }).withChange<void>(operator, () => [{ event: 'records_copied', subject: null }]);
  const events = { onTable, audit };
  const tables = await copyRecords(source, target, events, Date.now()).catch((error) => {
    throw asFailure(error, target);
  });
  tell('copied; counts and checksums of all tables are the same');
  await printJsonAlone(call, { from: source.location, to: target.location, tables });
}

function requireLocation(
  { text, terminal }: Call,
  option: 'from' | 'to',
  { stores }: Config,
): RecordsLocation {
  const given = text(option);
  const tls = stores.records_tls;
  if (given === undefined)
    return { key: 'stores.records', address: stores.records, password: stores.records_password, tls };
  const address = withAbsolutePath(requireAddress(given, option), process.cwd());
  return { key: `--${option}`, address, password: terminal.env[passwordVariable], tls };
}

function requireAddress(given: string, option: string): RecordsAddress {
  let address: RecordsAddress;
  try {
    address = parseRecordsAddress(given);
  } catch (error) {
    throw new Failure('usage', `--${option} ${(error as RangeError).message}`);
  }
  // Everyone on the machine can read arguments.
  if (address.kind === 'postgres' && address.password !== undefined)
    throw new Failure('usage', `--${option} must hold no password: set ${passwordVariable}`);
  return address;
}

function asFailure(error: unknown, { location }: CopyEnd): unknown {
  if (!(error instanceof CopyRefusal)) return error;
  const tables = error.tables.join(', ');
  const sentence =
    error.code === 'target_not_empty'
      ? `${location} is not empty: there are rows in ${tables}; nothing was copied`
      : `${location} returned rows that differ from those written in ${tables}; nothing was kept`;
  return new Failure('failed', sentence, error);
}
