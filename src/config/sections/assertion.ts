import { z } from 'zod';
import { duration } from '../values/durations-and-sizes.ts';
import { secretBytes, text } from '../values/scalars.ts';

/** `assertion`: the proof to a service that a request comes from Postern, and from its caller. */
export const assertion = z.strictObject({
  algorithm: z
    .enum(['EdDSA', 'ES256', 'HS256'])
    .prefault('EdDSA')
    .describe(
      'Signature algorithm: EdDSA or ES256 by a key whose public part is published, or HS256 by a shared secret.',
    ),
  secret: secretBytes(32)
    .optional()
    .describe(
      'The secret of HS256, at least 32 bytes, as { file: PATH }: the bytes of the file less one trailing newline. Read again at a reload.',
    ),
  lifetime: duration({ min: '1s', max: '5m' })
    .prefault('30s')
    .describe('Lifetime of an assertion; at most 5m.'),
  audience: text().optional().describe('aud of the assertion; if omitted, the name of the upstream.'),
});
