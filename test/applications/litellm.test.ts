import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startApplication } from './application.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(900_000);

const masterKey = 'sk-of-litellm-itself';
const [litellm, python] = ['litellm', 'python'].map((name) => fromPyPILater('litellm', name)) as [
  string,
  string,
];

/** LiteLLM with one model, which says what its configuration has. */
const kind = {
  needs: [litellm],
  readyPath: '/health/liveliness',
  readyMilliseconds: 480_000,
  env: () => ({ LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False' }),
  command: ({ folder, port }: { readonly folder: string; readonly port: number }) => {
    const model = { model: 'openai/none', api_key: 'none', mock_response: 'brewing' };
    writeFileSync(
      join(folder, 'config.yaml'),
      JSON.stringify({
        model_list: [{ model_name: 'tea', litellm_params: model }],
        general_settings: { master_key: masterKey },
      }),
    );
    // It looks for modules two folders above that in which it is started, before its own.
    const start = 'mkdir -p a/b && cd a/b && exec "$0" "$@"';
    return [
      ...(['sh', '-c', start, litellm, '--config', join(folder, 'config.yaml')] as const),
      ...['--host', '127.0.0.1', '--port', `${port}`],
    ] as const;
  },
};

/** Asks by OpenAI's SDK; what it printed. */
async function ask(
  run: NonNullable<Awaited<ReturnType<typeof startApplication>>>['run'],
  origin: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<string> {
  const script = `import json, sys
from openai import OpenAI
client = OpenAI(base_url=sys.argv[1], max_retries=0, **json.loads(sys.argv[2]))
messages = [{"role": "user", "content": "tea?"}]
print(client.chat.completions.create(model="tea", messages=messages).choices[0].message.content)
print("".join(part.choices[0].delta.content or "" for part in client.chat.completions.create(model="tea", messages=messages, stream=True)))
`;
  return (await run([python, '-c', script, `${origin}/v1`, JSON.stringify(settings)])).printed;
}

/** That LiteLLM wants a key at all, the configuration has to see to. */
async function judgeOwnCheck(t: Test, port: number): Promise<void> {
  const headers = { Authorization: 'Bearer sk-guessed' };
  const { ok } = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers });
  t.notOk(ok, 'it wants a key of its own');
}

t.test('LiteLLM: programs have a key of the gateway’s, and none knows the master key', async (t) => {
  const secret = `Bearer ${masterKey}`;
  const application = await startApplication(t, { recipe: 'LiteLLM, one key', ...kind, secret });
  if (application === null) return;
  const { origin, key, run, port } = application;
  await judgeOwnCheck(t, port);
  t.equal(await ask(run, origin, { api_key: key }), 'brewing\nbrewing\n');
  t.match(await ask(run, origin, { api_key: 'guessed' }), /401/);
});

t.test('LiteLLM with a key of its own each, beside the gateway’s', async (t) => {
  const application = await startApplication(t, { recipe: 'LiteLLM, keys', ...kind });
  if (application === null) return;
  const { origin, key, run, port } = application;
  await judgeOwnCheck(t, port);
  const ours = { 'X-API-Key': key };
  t.equal(await ask(run, origin, { api_key: masterKey, default_headers: ours }), 'brewing\nbrewing\n');
  const guessed = await ask(run, origin, { api_key: 'sk-guessed', default_headers: ours });
  t.match(guessed, /AuthenticationError|401|400/, 'judged by LiteLLM');
  t.match(application.sent(), 'sk-guessed');
  t.match(await ask(run, origin, { api_key: masterKey }), /401/, 'its own alone does not pass');
});
