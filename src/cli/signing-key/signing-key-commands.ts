import type { Command } from '../command.ts';

const text = { type: 'string' } as const;

/** The commands about keys that sign. */
export const signingKeyCommands: readonly Command[] = [
  {
    name: 'signing-key list',
    operands: [],
    synopsis: '',
    summary: 'List the keys of tokens, assertions and cookies',
    options: {},
    run: async (call) => (await import('./signing-key.ts')).listSigningKeys(call),
  },
  {
    name: 'signing-key rotate',
    operands: [],
    synopsis: '[--purpose access-token|assertion|cookie]',
    summary: 'Have the next key sign',
    details: `A key signs only after it has been published for signing_keys.publish_ahead: if the next one has not, a gateway turns to
it then. Without --purpose the keys of every purpose are replaced. Nobody is signed out`,
    options: { purpose: text },
    run: async (call) => (await import('./signing-key.ts')).rotateSigningKeys(call),
  },
  {
    name: 'signing-key revoke',
    operands: ['KID'],
    synopsis: '',
    summary: 'Refuse whatever a key has signed, from now on',
    details: `The next key signs at once. Sessions go on, but for the cookies of a secret that is revoked: browsers that have one sign in
again. Services that verify tokens themselves accept the key until their copy of the published keys is renewed`,
    options: {},
    run: async (call) => (await import('./signing-key.ts')).revokeSigningKey(call),
  },
];
