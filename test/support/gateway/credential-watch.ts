import type { RecordingUpstream } from '../servers/recording-upstream.ts';
import type { SecretWatch } from './secret-watch.ts';

/** The headers in which an application gets what is its own, in any spelling. */
const credentialName = /^(?:proxy[^a-z0-9])?authorization$|^x[^a-z0-9]api[^a-z0-9]key$/i;

/**
 * The requests in which an upstream saw a credential of the tenant's, by their targets: as it is, or in the base64 of any
 * alphabet. `[]` is what every test wants.
 */
export function credentialsSeen({ seen }: Pick<RecordingUpstream, 'seen'>, secrets: SecretWatch): string[] {
  return seen.flatMap(({ target, rawHeaders }) => {
    const values = rawHeaders.filter((_, i) => i % 2 === 1 && credentialName.test(rawHeaders[i - 1]!));
    const texts = values.flatMap((value) => [value, ...value.split(/[^A-Za-z0-9+/_-]+/).map(decoded)]);
    return texts.some((text) => secrets.heldIn(text).length > 0) ? [target] : [];
  });
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1');
}
