import { registerHooks } from 'node:module';

// Loaded before a program: writes what of OpenTelemetry it imports to standard error, but for the interfaces, which
// prom-client imports whether they are used or not.
registerHooks({
  load(url, context, next) {
    if (/\/@opentelemetry\/(?!api\/)/.test(url)) process.stderr.write(`imported: ${url}\n`);
    return next(url, context);
  },
});
