/** The contents of a file; also the name of the folder with its migrations. */
export type StoreKind = 'records' | 'sessions';

/** Marks a file as ours, so that one kind is never mistaken for the other ("PSTR", "PSTS"). */
export const applicationIds: Readonly<Record<StoreKind, number>> = {
  records: 0x50535452,
  sessions: 0x50535453,
};

/** The reason why a file that SQLite can't read is refused. */
export const notDatabase = 'is corrupt or not an SQLite database';

/** The reason why a file is refused whose application id is neither that of the kind nor unset. */
export function problemOfKind(applicationId: unknown, kind: StoreKind): string {
  const other = (Object.keys(applicationIds) as StoreKind[]).find(
    (name) => applicationIds[name] === applicationId,
  );
  return other === undefined ? 'belongs to another program' : `holds ${other}, not ${kind}`;
}
