import type { RelayCommand, Treatment } from './redis-relay-faults.ts';
import type { Frame, Reply } from './resp.ts';

/** The replies that a client waits for, in the order of its commands. */
export interface RelayReplies {
  /** The next command of the client, and its treatment. */
  expect(command: RelayCommand, treatment: Treatment): void;
  /** The next frame of the server: a reply, or an unsolicited message, which passes at once. */
  take(frame: Frame): void;
}

/** A command whose reply the client has not received yet. */
interface Pending {
  readonly treatment: Treatment;
  readonly isSubscription: boolean;
  /** How many replies the server still owes: one per channel for a subscription. */
  owed: number;
  reply: Buffer;
  /** The reply is complete, and it is time to pass it on. */
  isDue: boolean;
}

const subscriptionPattern = /^[ps]?(un)?subscribe$/;
const messagePattern = /^[ps]?message$/;

/** Creates it; `give` passes bytes to the client, `end` tells how a fault ends the connection instead of a reply. */
export function createRelayReplies(
  give: (bytes: Buffer) => void,
  end: (ending: 'cut' | 'silence') => void,
): RelayReplies {
  const pending: Pending[] = [];
  let isSubscriber = false;

  const giveDue = () => {
    while (pending[0]?.isDue === true) {
      const { treatment, reply } = pending.shift()!;
      if (treatment.ending !== undefined) return end(treatment.ending);
      give(reply);
    }
  };

  /** In RESP2 a subscriber's messages look like any other reply, and in RESP3 the reply to a subscription is a push. */
  const isReplyTo = (frame: Frame, command: Pending) => {
    const kind = isSubscriber || frame.type === '>' ? firstOf(frame.value) : '';
    if (subscriptionPattern.test(kind)) return command.isSubscription;
    return frame.type !== '>' && !messagePattern.test(kind);
  };

  return {
    expect({ name, args }, treatment) {
      const isSubscription = subscriptionPattern.test(name);
      isSubscriber ||= isSubscription;
      const replies = isSubscription ? Math.max(1, args.length) : 1;
      pending.push({
        treatment,
        isSubscription,
        owed: treatment.isSent ? replies : 0,
        reply: Buffer.from(treatment.reply ?? '', 'latin1'),
        isDue: !treatment.isSent,
      });
      giveDue();
    },
    take(frame) {
      const command = pending.find(({ owed }) => owed > 0);
      if (command === undefined || !isReplyTo(frame, command)) return give(frame.bytes);
      command.owed = frame.type === '-' ? 0 : command.owed - 1;
      command.reply = Buffer.concat([command.reply, frame.bytes]);
      if (command.owed > 0) return;
      const becomeDue = () => {
        command.isDue = true;
        giveDue();
      };
      if (command.treatment.delayReplyMs === undefined) becomeDue();
      else setTimeout(becomeDue, command.treatment.delayReplyMs).unref();
    },
  };
}

function firstOf(value: Reply): string {
  return Array.isArray(value) ? String(value[0]) : '';
}
