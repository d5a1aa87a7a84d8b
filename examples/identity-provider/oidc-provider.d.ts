/** The part of oidc-provider that is used here; it comes without types. */
declare module 'oidc-provider' {
  import type { Server } from 'node:http';

  export class Provider {
    constructor(issuer: string, configuration: object);
    use(middleware: (context: { body: unknown }, next: () => Promise<void>) => Promise<void>): void;
    listen(port: number, host: string): Server;
  }
}
