// The first file of a worker. Signals from a terminal reach every process in its foreground, and a service manager may send
// them to all: only the supervisor acts on them.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.stderr.on('error', () => {});

void import('./worker-gateway.ts').then(({ serveAsWorker }) => serveAsWorker(process));

export {};
