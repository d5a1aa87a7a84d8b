import type { KeyChange } from '../stores/signing-keys.ts';
import type { ChangeEvent } from './audit.ts';

/** Audit events of a change of keys: another key signs, one was revoked, or the next one was asked for. */
export function signingKeyEvents({
  turn,
  revoked,
  requested,
}: Pick<KeyChange, 'turn' | 'revoked' | 'requested'>): readonly ChangeEvent[] {
  const about = (
    event: 'signing_key_revoked' | 'signing_key_rotated' | 'signing_key_requested',
    id: string,
  ) => ({ event, subject: null, target: { type: 'signing_key', id } }) as const;
  return [
    ...(revoked === null ? [] : [about('signing_key_revoked', revoked)]),
    ...(turn.start === null ? [] : [about('signing_key_rotated', turn.start)]),
    ...(requested === null || turn.start !== null ? [] : [about('signing_key_requested', requested)]),
  ];
}
