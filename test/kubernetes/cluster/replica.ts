import { type ApiClient, createApiClient } from '../../support/clients/api-client.ts';
import { createSecretWatch } from '../../support/gateway/secret-watch.ts';
import { podsOf } from './namespace.ts';
import type { Release } from './release.ts';

/** One pod of a release, asked at its own address. */
export interface Replica {
  readonly api: ApiClient;
  /** The status of `/readyz`, and whether it can use its stores. */
  readiness(): Promise<{ status: number; records: boolean; sessions: boolean }>;
}

/** Those that there are. */
export async function replicasOf({ namespace, selector }: Release): Promise<Replica[]> {
  const pods = await podsOf(namespace, selector);
  return pods.map(({ status }) => ({
    api: createApiClient(8080, createSecretWatch(), status.podIP),
    async readiness() {
      const response = await fetch(`http://${status.podIP}:9090/readyz`);
      const { records, sessions } = ((await response.json()) as any).dependencies;
      return { status: response.status, records: records.ok, sessions: sessions.ok };
    },
  }));
}
