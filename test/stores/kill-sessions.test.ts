import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { cookieOf } from '../support/gateway/replicas.ts';

const rounds = isLong ? 30 : 3;
const refreshesInRound = isLong ? 200 : 60;
const browsers = 8;
/** Longer than a refresh takes on a busy machine. */
const reuseGraceMs = 1_000;
const { username, password } = administrator;

t.setTimeout(isLong ? 900_000 : 600_000);

/** A browser that refreshes with the cookies in its jar; a response lost with the gateway never arrives. */
class Browser {
  jar: string;
  refused: unknown[] = [];
  refreshes = 0;
  #lostLast = false;

  constructor(cookie: string) {
    this.jar = cookie;
  }

  /** As two tabs at once, unless the last response was lost: then it tries again, alone. */
  async refresh({ api }: Pick<GatewayProcess, 'api'>): Promise<boolean> {
    const sent = this.jar;
    const tabs = this.#lostLast ? 1 : 2;
    const refreshed = Array.from({ length: tabs }, async () => {
      const response = await api.refresh(sent);
      this.refreshes += 1;
      if (response.status === 200) this.jar = cookieOf(response);
      else this.refused.push({ sent: sent.split('.')[1], status: response.status });
    });
    const responses = await Promise.allSettled(refreshed);
    this.#lostLast = responses.some(({ status }) => status === 'rejected');
    return !this.#lostLast;
  }
}

t.test(`killed ${rounds} times amid refreshes, no one is signed out`, async (t) => {
  const config = { sessions: { reuse_grace: `${reuseGraceMs}ms` } };
  let gateway = await startGatewayProcess(t, { config });
  const { folder } = gateway;
  await gateway.api.activate(username, password, bootstrapToken);
  const all: Browser[] = [];
  while (all.length < browsers) all.push(new Browser((await gateway.api.signIn(username, password)).cookie));
  const count = () => all.reduce((sum, { refreshes }) => sum + refreshes, 0);

  for (let round = 1; round <= rounds; round += 1) {
    const killAt = count() + Math.ceil(refreshesInRound * (0.5 + Math.random() / 2));
    const killer = (async () => {
      while (count() < killAt) await sleep(Math.random() * 3);
      await gateway.kill();
    })();
    const use = async (browser: Browser) => {
      while (await browser.refresh(gateway)) await sleep(Math.random() * 2 * reuseGraceMs);
    };
    await Promise.all([killer, ...all.map(use)]);
    gateway = await startGatewayProcess(t, { config, folder });
    for (const browser of all) await browser.refresh(gateway);
    t.strictSame(
      all.flatMap(({ refused }) => refused),
      [],
      `round ${round}, after ${count()} refreshes`,
    );
  }
  const generations = all.map(({ jar }) => Number(jar.split('.')[1]));
  t.ok(Math.min(...generations) > 1, `they rotated: ${generations}`);
});
