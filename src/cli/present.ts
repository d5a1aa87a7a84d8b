import { presentUser } from '../administration/present-user.ts';
import { providerOf } from '../config/sections/identity-providers.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { CommandContext } from './with-stores.ts';

/** Users as JSON shows them: the fields of the HTTP API, with scope sets by name. Never the password's hash. */
export function presentUserByNames(record: UserRecord, { config, holdings }: CommandContext) {
  const shown = presentUser(record, { holdings, providerOf: (issuer) => providerOf(config, issuer) });
  const names = new Map(record.sets.map(({ id, name }) => [id, name]));
  const namesOf = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id).sort();
  return {
    ...shown,
    scope_sets: namesOf(shown.scope_sets),
    provider_scope_sets: namesOf(shown.provider_scope_sets),
    identities: record.identities.map(({ issuer, subject }) => ({
      provider: providerOf(config, issuer),
      issuer,
      subject,
    })),
  };
}

/** An instant as people read it, in UTC: `2026-11-21 09:30:00Z`. Takes epoch ms or RFC 3339. */
export function readableTime(instant: number | string): string {
  return new Date(instant).toISOString().replace('T', ' ').replace(/\.\d+/, '');
}
