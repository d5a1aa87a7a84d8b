import { printedProxies, printProxyConfiguration } from '../forward-auth/printed/configurations.ts';
import { type Call, Failure } from './command.ts';
import { readConfig, requireConfig } from './configuration.ts';
import { printResult } from './terminal.ts';

/** `forward-auth config PROXY`: prints the configuration of a proxy that asks this gateway; with `--json`, its files by name. */
export async function forwardAuthConfig(call: Call): Promise<void> {
  const [proxy = ''] = call.operands;
  if (!printedProxies.includes(proxy))
    throw new Failure('usage', `the proxy must be one of ${printedProxies.join(', ')}`);
  const config = requireConfig(readConfig(call));
  const files = filesOf(() =>
    printProxyConfiguration(config, proxy, {
      host: call.text('host'),
      service: call.text('service'),
      listen: call.text('listen'),
    }),
  );
  const entries = Object.entries(files);
  const text = entries.map(([name, content]) =>
    entries.length === 1
      ? content
      : `${proxy === 'haproxy' && name.endsWith('.lua') ? '--' : '#'} file: ${name}\n${content}`,
  );
  await printResult(call, files, text.join('\n').trimEnd());
}

function filesOf<T>(print: () => T): T {
  try {
    return print();
  } catch (error) {
    if (error instanceof RangeError) throw new Failure('usage', error.message);
    throw error;
  }
}
