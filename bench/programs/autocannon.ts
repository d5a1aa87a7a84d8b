import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// Runs autocannon with the options of a JSON file and prints its result. It comes without types.

const autocannon: (options: object) => Promise<object> = createRequire(import.meta.url)('autocannon');

const options = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
process.stdout.write(JSON.stringify(await autocannon(options)));
