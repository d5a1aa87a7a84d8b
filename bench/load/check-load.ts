import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programFile } from '../peers/peer.ts';
import type { CheckLoad, CheckLoadResult } from '../programs/check-load.ts';
import { type LoadGenerator, occurred } from './generator.ts';

/** Asks by gRPC, as Envoy does, in a process of its own. */
export const checkLoad: LoadGenerator = {
  name: 'check-load',
  version: () => process.versions.node,
  async run({ processes, directory, cpu, url, credentials, connections, seconds }) {
    const file = join(directory, 'check-load.json');
    const { header, values } = credentials;
    const task: CheckLoad = {
      port: Number(new URL(url).port),
      header,
      values,
      questions: connections,
      seconds,
    };
    writeFileSync(file, JSON.stringify(task));
    const args = [programFile('check-load'), file];
    const output = await processes.run({ name: 'check-load', command: process.execPath, args, cpu });
    const { refused, ...result } = JSON.parse(output) as CheckLoadResult;
    return { ...result, failures: occurred({ refused }) };
  },
};
