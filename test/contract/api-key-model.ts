import type { ApiKey, ApiKeyQuery, ApiKeySortField } from '../../src/stores/api-key.ts';
import type { Comparison } from '../../src/stores/list-query.ts';

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

function passes(
  key: ApiKey,
  filters: ApiKeyQuery['filters'],
  disabled: ReadonlySet<string>,
  now: number,
): boolean {
  return filters.every(({ field, operator, value }) => {
    switch (field) {
      case 'label':
        if (operator === 'eq') return key.label === value;
        return foldAscii(key.label).includes(foldAscii(String(value)));
      case 'scopes':
        return [value].flat().every((scope) => key.scopes.includes(String(scope)));
      case 'created_by':
        return key.createdBy === value;
      case 'parent':
        return key.parent === value;
      case 'status':
        return statusOf(key, disabled.has(key.createdBy), now) === value;
      default:
        if (operator === 'isnull') return !Number.isFinite(instantOf[field](key)) === value;
        return compare[operator as Comparison](instantOf[field](key), Number(value));
    }
  });
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
