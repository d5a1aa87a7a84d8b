import type { Command } from '../command.ts';

/** Commands about signing keys. */
export const signingKeyCommands: readonly Command[] = [
  {
    name: 'signing-key list',
    operands: [],
    summary: 'List the keys of tokens, assertions and cookies',
    run: async (call) => (await import('./signing-key.ts')).listSigningKeys(call),
  },
  {
    name: 'signing-key rotate',
    operands: [],
    summary: 'Have the next key sign',
    details: `A key signs only after it has been published for signing_keys.publish_ahead: if the next key hasn't been published that
long, gateways switch once it has. No one is signed out`,
    options: {
      purpose: {
        value: 'PURPOSE',
        help: 'replace only the keys of access-token, assertion or cookie; default: those of every purpose',
      },
    },
    run: async (call) => (await import('./signing-key.ts')).rotateKeys(call),
  },
  {
    name: 'signing-key revoke',
    operands: ['KID'],
    summary: 'Refuse whatever a key has signed, from now on',
    details: `The next key signs at once. Sessions go on, except after a cookie secret is revoked: browsers with its cookies have to sign
in again. Services that verify tokens themselves accept the key until they fetch the published keys again`,
    run: async (call) => (await import('./signing-key.ts')).refuseSigningKey(call),
  },
];
