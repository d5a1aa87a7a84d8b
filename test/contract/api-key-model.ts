import type { ApiKey, ApiKeyFilters, ApiKeyQuery, ApiKeySortField } from '../../src/stores/api-key.ts';

/** The status sentence of the contract, for a key whose owner is disabled or not. */
function statusOf(key: ApiKey, isOwnerDisabled: boolean, now: number): string {
  if (key.expires !== null && key.expires <= now) return 'expired';
  return isOwnerDisabled ? 'suspended' : 'active';
}

function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const instantOf = {
  created: (key: ApiKey) => key.created,
  expires: (key: ApiKey) => key.expires ?? Number.POSITIVE_INFINITY,
  last_used: (key: ApiKey) => key.lastUsed ?? Number.NEGATIVE_INFINITY,
};

const compare = {
  gt: (a: number, b: number) => a > b,
  gte: (a: number, b: number) => a >= b,
  lt: (a: number, b: number) => a < b,
  lte: (a: number, b: number) => a <= b,
};

function passes(key: ApiKey, filters: ApiKeyFilters, disabled: ReadonlySet<string>, now: number): boolean {
  const { labelContains, labelEq, expiresIsNull, lastUsedIsNull, createdByEq, statusEq } = filters;
  return (
    (labelContains === undefined || foldAscii(key.label).includes(foldAscii(labelContains))) &&
    (labelEq === undefined || key.label === labelEq) &&
    (filters.instants ?? []).every((each) =>
      compare[each.comparison](instantOf[each.field](key), each.value),
    ) &&
    (expiresIsNull === undefined || (key.expires === null) === expiresIsNull) &&
    (lastUsedIsNull === undefined || (key.lastUsed === null) === lastUsedIsNull) &&
    (filters.scopesContain ?? []).every((scope) => key.scopes.includes(scope)) &&
    (createdByEq === undefined || key.createdBy === createdByEq) &&
    (statusEq === undefined || statusOf(key, disabled.has(key.createdBy), now) === statusEq)
  );
}

/** The ids a query matches, in list order, by brute force; `disabled` holds ids of disabled users. */
export function expectedIds(
  keys: readonly ApiKey[],
  query: Pick<ApiKeyQuery, 'sortBy' | 'sortOrder' | 'filters' | 'now'>,
  disabled: ReadonlySet<string>,
): string[] {
  const sign = query.sortOrder === 'asc' ? 1 : -1;
  const order = (a: ApiKey, b: ApiKey) =>
    sign * (compareValues(a, b, query.sortBy) || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
  return keys
    .filter((key) => passes(key, query.filters, disabled, query.now))
    .sort(order)
    .map(({ id }) => id);
}

/** UTF-8 bytes order as code points do. */
function compareValues(a: ApiKey, b: ApiKey, sortBy: ApiKeySortField): number {
  if (sortBy === 'label') return Buffer.compare(Buffer.from(a.label), Buffer.from(b.label));
  const [left, right] = [instantOf[sortBy](a), instantOf[sortBy](b)];
  return left === right ? 0 : left - right;
}

/** The position of a key in the order of a field. */
export function positionOf(
  key: ApiKey,
  sortBy: ApiKeySortField,
): { value: number | string | null; id: string } {
  return { value: sortBy === 'last_used' ? key.lastUsed : key[sortBy], id: key.id };
}
