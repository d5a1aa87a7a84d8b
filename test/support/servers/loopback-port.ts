/**
 * A port that is likely free, for a server that has to be told its port or to come back to it. Whoever gets it tries
 * another when it turns out to be taken.
 *
 * It lies below the ports that outgoing connections are given: one of those could take it while its server is down, and
 * a client that tries to reach the server again and again could even be connected to itself. The port 10000 above it,
 * where a Redis cluster's nodes talk, is as good.
 */
export function guessPort(): number {
  return 10_000 + Math.floor(Math.random() * 12_000);
}
