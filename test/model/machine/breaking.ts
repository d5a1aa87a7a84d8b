import { registerHooks } from 'node:module';
import { env } from 'node:process';
import type { Break } from './gateway.ts';

// Loaded into a gateway before everything else, it breaks a promise on purpose: `POSTERN_TEST_BREAK`, a Break as JSON.

const { file, text, by } = JSON.parse(env.POSTERN_TEST_BREAK!) as Break;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/${file}`)) return loaded;
    const source = String(loaded.source);
    if (source.split(text).length !== 2)
      throw new Error(`${file} has "${text}" not once: break it otherwise`);
    return { ...loaded, source: source.replace(text, () => by) };
  },
});
