import t from 'tap';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(900_000);

const names = ['C# notes.txt', 'what?.txt', 'a;b.txt', '50%25.txt'];

/** Logs a run and reads it back: `ADDRESS NAMES_OF_ARTIFACTS`. */
const client = `
import json, os, sys
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("tea")
names = json.loads(sys.argv[2])
with mlflow.start_run() as run:
    mlflow.log_metric("strength", 0.5)
    for name in names:
        with open(name, "w") as file:
            file.write("in " + name)
        mlflow.log_artifact(name)
assert mlflow.get_run(run.info.run_id).data.metrics == {"strength": 0.5}
for name in names:
    path = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path=name, dst_path="back")
    assert open(path).read() == "in " + name, name
print("all well")
`;

t.test('MLflow: its client has a key as password or token; artifacts with #, ?, ; and %', async (t) => {
  const mlflow = fromPyPILater('mlflow', 'mlflow');
  const python = fromPyPILater('mlflow', 'python');
  const application = await startApplication(t, {
    recipe: 'MLflow',
    needs: [mlflow],
    readyPath: '/health',
    readyMilliseconds: 480_000,
    env: () => ({ MLFLOW_DISABLE_TELEMETRY: 'true', MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false' }),
    command: ({ port }) => [
      ...([mlflow, 'server', '--host', '127.0.0.1', '--port', `${port}`, '--workers', '1'] as const),
      ...['--backend-store-uri', 'sqlite:///runs.db', '--artifacts-destination', './artifacts'],
    ],
  });
  if (application === null) return;
  const { origin, key, run } = application;
  const log = (env: Readonly<Record<string, string>>) =>
    run([python, '-c', client, origin, JSON.stringify(names)], {
      env: {
        ...env,
        MLFLOW_DISABLE_TELEMETRY: 'true',
        MLFLOW_HTTP_REQUEST_MAX_RETRIES: '0',
        GIT_PYTHON_REFRESH: 'quiet',
      },
      milliseconds: 240_000,
    });
  const carriers: readonly Readonly<Record<string, string>>[] = [
    { MLFLOW_TRACKING_USERNAME: 'any', MLFLOW_TRACKING_PASSWORD: key },
    { MLFLOW_TRACKING_TOKEN: key },
  ];
  for (const env of carriers) {
    const { code, printed } = await log(env);
    t.equal(code, 0, printed);
    t.match(printed, /all well/);
  }
  const guessed = await log({ MLFLOW_TRACKING_USERNAME: 'any', MLFLOW_TRACKING_PASSWORD: 'guessed' });
  t.match(guessed, { code: 1, printed: /not_authenticated/ });

  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  await page.locator('text=tea').first().waitFor();
  await signOut();
  t.equal((await fetched('/version')).status, 401);
});
