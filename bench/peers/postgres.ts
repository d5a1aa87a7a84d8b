import { fileURLToPath } from 'node:url';
import { startPostgres as startServer } from '../../test/support/postgres-server.ts';
import { packageVersion } from './peer.ts';
