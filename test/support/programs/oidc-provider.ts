import {
  type LocalProviderOptions,
  startLocalProvider,
} from '../../../examples/identity-provider/provider.ts';

// Its one argument is what to start, as JSON.
const server = await startLocalProvider(JSON.parse(process.argv[2]!) as LocalProviderOptions);
process.on('disconnect', () => process.exit());
process.once('SIGTERM', () => {
  server.closeAllConnections();
  process.exit();
});
process.send?.('ready');
