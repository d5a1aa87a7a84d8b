// wait-until-ready.mjs URL: ends with 0 once the URL is answered with 2xx, and with 1 once the service's main process is
// gone. How long that may take is up to systemd (TimeoutStartSec).
import { setTimeout as sleep } from 'node:timers/promises';

const [, , url] = process.argv;
const mainPid = Number(process.env.MAINPID);

const isReady = () =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

function isThere() {
  try {
    return process.kill(mainPid, 0);
  } catch {
    return false;
  }
}

while (!(await isReady())) {
  if (!isThere()) process.exit(1);
  await sleep(200);
}
