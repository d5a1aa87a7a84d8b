import type { Config } from '../config/sections/schema.ts';
import type { LoginLimits } from '../credentials/throttle.ts';

/** The limits on failed attempts, from `login_throttle`. */
export function loginLimits({ login_throttle: throttle }: Config): LoginLimits {
  return {
    perAccountAndAddress: throttle.per_account_and_address,
    perAccount: throttle.per_account,
    perAddress: throttle.per_address,
    windowMs: throttle.window,
  };
}
