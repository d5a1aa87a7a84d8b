import { Client, type QueryResultRow } from 'pg';

/** Where a server accepts its superuser: the folder of its Unix socket, and its port. */
export interface PostgresSocket {
  readonly folder: string;
  readonly port: number;
}

/** Longer than it takes to connect; a paused server never responds. */
const longestMs = 5_000;

/** Calls `work` with a connection of its own as the superuser, who may write regardless of the server's default. */
export async function asSuperuser<T>(
  { folder, port }: PostgresSocket,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    host: folder,
    port,
    user: 'postgres',
    database: 'postern',
    ssl: false,
    application_name: 'harness',
    connectionTimeoutMillis: longestMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SET default_transaction_read_only = off');
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The rows of one statement as the superuser. */
export async function queryAsSuperuser<Row extends QueryResultRow>(
  socket: PostgresSocket,
  sql: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  return asSuperuser(socket, async (client) => (await client.query<Row>(sql, [...params])).rows);
}
