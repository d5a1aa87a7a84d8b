import type { Identity, User } from '../stores/records.ts';
import type { Workplace } from './with-stores.ts';

/** A user as JSON shows it: the field names of the HTTP API, own scopes, and sets by name. */
export interface PresentedUser {
  readonly id: string;
  readonly username: string;
  readonly display_name: string | null;
  readonly email: string | null;
  readonly scopes: readonly string[];
  readonly scope_sets: readonly string[];
  readonly disabled: boolean;
  /** Who the user is at identity providers. */
  readonly identities: readonly Identity[];
  /** RFC 3339, as `last_login`. */
  readonly created: string;
  readonly last_login: string | null;
}

/** Users as they are shown: never the password's hash. */
export async function presentUsers(
  { records }: Workplace,
  users: readonly User[],
): Promise<readonly PresentedUser[]> {
  const ids = new Set(users.flatMap(({ scopeSets }) => scopeSets));
  const sets = await records.findScopeSets([...ids]);
  const names = new Map(sets.map(({ id, name }) => [id, name]));
  const identities = await Promise.all(users.map(({ id }) => records.identitiesOf(id)));
  return users.map((user, index) => ({
    id: user.id,
    username: user.username,
    display_name: user.displayName,
    email: user.email,
    scopes: user.scopes,
    scope_sets: user.scopeSets.map((id) => names.get(id) ?? id).sort(),
    disabled: user.disabled,
    identities: identities[index]!.map(({ issuer, subject }) => ({ issuer, subject })),
    created: new Date(user.created).toISOString(),
    last_login: user.lastLogin === null ? null : new Date(user.lastLogin).toISOString(),
  }));
}
