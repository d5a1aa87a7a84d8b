import { z } from 'zod';
import { clientTls } from '../values/client-tls.ts';
import { duration, timeout } from '../values/durations-and-sizes.ts';
import { recordsEncryption } from '../values/encryption-keys.ts';
import { parsedBy, secret, text, whole } from '../values/scalars.ts';
import { parseRecordsAddress, parseSessionsAddress } from '../values/store-addresses.ts';

/** `stores`: addresses of the stores. An address may contain a password, so it is never shown. */
export const stores = z
  .strictObject({
    records: secret()
      .transform(parsedBy(parseRecordsAddress))
      .prefault('sqlite:data/postern.db')
      .describe(
        'Users, keys, scope sets, signing keys and audit: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
      ),
    records_password: secret()
      .optional()
      .describe('Password for the postgres:// records store; if omitted, the one in the address.'),
    records_connections: whole({ max: 1000 })
      .prefault(8)
      .describe(
        'Maximum number of connections to a postgres:// records store, besides the one for notifications.',
      ),
    records_statement_timeout: timeout()
      .prefault('1500ms')
      .describe(
        'Timeout of one statement to a postgres:// records store; beyond it the store counts as unavailable.',
      ),
    records_tls: clientTls().optional().describe('TLS towards a postgres:// records store.'),
    records_encryption: recordsEncryption.optional(),
    sessions: secret()
      .transform(parsedBy(parseSessionsAddress))
      .prefault('sqlite:data/sessions.db')
      .describe(
        'Sessions and throttle counters: sqlite:PATH, redis://, rediss://, redis+sentinel://HOST,HOST/NAME, redis+cluster://HOST,HOST or redis+unix:PATH.',
      ),
    sessions_tls: clientTls()
      .optional()
      .describe('TLS towards a rediss://, redis+sentinel:// or redis+cluster:// session store.'),
    sessions_username: text()
      .optional()
      .describe('User for a Redis with access lists; if omitted, the one in the address.'),
    sessions_password: secret()
      .optional()
      .describe('Password for Redis; if omitted, the one in the address.'),
    sessions_sentinel_password: secret()
      .optional()
      .describe('Password for the Sentinels themselves, if they have one.'),
    sessions_command_timeout: timeout()
      .prefault('500ms')
      .describe('Timeout of one command to the session store; beyond it the store counts as unavailable.'),
    sessions_liveness_age: duration({ min: '0s' })
      .prefault('5s')
      .describe(
        'Time for which a session seen alive is cached before it is checked again in a session store that reports revocations.',
      ),
  })
  .prefault({})
  .describe('Addresses of the stores, which keep all state.');
