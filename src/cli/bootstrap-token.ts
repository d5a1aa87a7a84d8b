import { operator } from '../administration/caller.ts';
import { newBootstrapToken } from '../runtime/bootstrap.ts';
import type { BootstrapState } from '../stores/records.ts';
import { type Call, Failure } from './command.ts';
import { printResult, tell } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

/** `bootstrap-token [--reset]`: prints the token for creating the first administrator, alone on standard output. */
export async function bootstrapToken(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    if (context.config.endpoints.bootstrap !== 'own')
      throw new Failure('failed', 'activation is not served by Postern: endpoints.bootstrap is upstream');
    const token = call.isSet('reset') ? await resetToken(context) : await currentToken(context);
    await printResult(call, { token }, token);
    if (call.isSet('reset')) tell(call, 'activation is open again, with this token alone');
  });
}

async function resetToken({ records, audit }: CommandContext): Promise<string> {
  const { token } = await records.setBootstrapToken(
    newBootstrapToken(),
    { reset: true },
    audit.withChange(operator, () => [{ event: 'bootstrap_token_reset', subject: null }]),
  );
  return token!;
}

/** The token in the store, else the configured one, else a new one; throws Failure if activation is closed. */
async function currentToken({ records, config }: CommandContext): Promise<string> {
  const state = requireOpen(await records.bootstrap());
  const known = state.token ?? config.bootstrap.token;
  if (known !== undefined) return known;
  const made = requireOpen(await records.setBootstrapToken(newBootstrapToken(), { reset: false }));
  return made.token!;
}

function requireOpen(state: BootstrapState): BootstrapState {
  if (state.open) return state;
  throw new Failure(
    'failed',
    'there is an administrator, or was one, so activation is closed; --reset reopens it',
  );
}
