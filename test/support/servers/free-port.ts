import { guessPort } from './loopback-port.ts';

const takenPattern = /address already in use/i;

/** A loopback port on which `take` succeeded; it is called with another one as long as its error says that one is taken. */
export async function onFreePort(take: (port: number) => Promise<unknown>): Promise<number> {
  for (let triesLeft = 20; ; triesLeft--) {
    const port = guessPort();
    try {
      await take(port);
      return port;
    } catch (error) {
      if (!takenPattern.test((error as Error).message) || triesLeft === 0) throw error;
    }
  }
}
