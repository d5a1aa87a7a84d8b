/**
 * Maximum number of connections to a host of a provider; further calls wait for one, within their timeout. Otherwise a provider
 * that hangs would take a descriptor for every sign-in that anyone begins.
 */
export const maxProviderConnections = 32;
