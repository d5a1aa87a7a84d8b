import { z } from 'zod';
import { ValidationError } from '../errors.ts';
import { readJson } from '../input/json-body.ts';

const tokenAlone = z.object({ token: z.string() });

/**
 * The `token` of a JSON body whose other fields may be malformed; undefined without one. What the token grants is judged
 * before them: without it nothing more can be learned.
 */
export function readTokenAlone(body: Uint8Array, contentType: string): string | undefined {
  try {
    return readJson(body, contentType, tokenAlone, { secret: ['token', 'password'] }).token;
  } catch (error) {
    if (error instanceof ValidationError) return undefined;
    throw error;
  }
}
