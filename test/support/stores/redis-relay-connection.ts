import type { Socket } from 'node:net';
import type { RelayCommand, Treatment } from './redis-relay-faults.ts';
import { createRelayReplies } from './redis-relay-replies.ts';
import { createFrameReader, type Frame } from './resp.ts';

/** A client's connection through to the server. */
export interface RelayConnection {
  /** Stops passing anything on, in both directions. */
  silence(): void;
  /** Ends it, whatever is in progress. */
  cut(): void;
}

/**
 * Passes commands from `client` to `server` and replies back, in order, each as `treat` decides. Ends with either of
 * them.
 */
export function relayConnection(
  client: Socket,
  server: Socket,
  treat: (command: RelayCommand) => Treatment,
): RelayConnection {
  const waiting: Frame[] = [];
  let isDelayed = false;
  /** A fault is about to end the connection: everything after the command is lost. */
  let isEnding = false;
  let isSilent = false;

  const silence = () => {
    isSilent = true;
  };
  const replies = createRelayReplies(
    (bytes) => void (isSilent || client.write(bytes)),
    (ending) => {
      silence();
      if (ending === 'silence') return;
      client.destroySoon();
      server.destroy();
    },
  );

  const send = () => {
    while (waiting.length > 0 && !isDelayed && !isEnding && !isSilent) {
      const frame = waiting.shift()!;
      const command = commandOf(frame);
      const treatment = treat(command);
      isEnding = treatment.ending !== undefined;
      if (treatment.delayMs !== undefined) delay(frame, treatment.delayMs);
      else if (treatment.isSent) server.write(frame.bytes);
      replies.expect(command, treatment);
    }
  };
  const delay = (frame: Frame, milliseconds: number) => {
    isDelayed = true;
    const release = () => {
      isDelayed = false;
      if (!isSilent) server.write(frame.bytes);
      send();
      if (client.destroyed && !isDelayed) server.end();
    };
    setTimeout(release, milliseconds).unref();
  };

  onFrame(client, (frame) => {
    waiting.push(frame);
    send();
  });
  onFrame(server, replies.take);
  client.on('close', () => {
    // A delayed command is in flight, and arrives before the end of its connection does.
    if (!isDelayed) server.end();
  });
  server.on('close', () => {
    // In a black hole the server's end is not visible either.
    if (isSilent) return;
    silence();
    client.destroySoon();
  });
  return {
    silence,
    cut() {
      silence();
      client.destroy();
      server.destroy();
    },
  };
}

function onFrame(socket: Socket, handle: (frame: Frame) => void): void {
  const read = createFrameReader();
  socket.setNoDelay();
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => read(chunk).forEach(handle));
}

function commandOf({ value }: Frame): RelayCommand {
  if (!Array.isArray(value)) throw new Error('not a command');
  const [name, ...args] = value.map(String);
  return { name: name!.toLowerCase(), args };
}
