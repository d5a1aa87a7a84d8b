import type { RelayCommand, Treatment } from './redis-relay-faults.ts';
import type { Frame, Reply } from './resp.ts';

/** The replies a client waits for, which it gets in the order of its commands. */
export interface RelayReplies {
  /** The next command of the client, and what becomes of it. */
  expect(command: RelayCommand, treatment: Treatment): void;
  /** The next frame of the server: a reply, or a message that nobody asked for, which passes at once. */
  take(frame: Frame): void;
}

/** A command whose reply the client has not got yet. */
interface Pending {
  readonly treatment: Treatment;
  readonly isSubscription: boolean;
  /** How many replies the server still owes: for a subscription one a channel. */
  owed: number;
  reply: Buffer;
  /** The reply is whole, and it is time to give it. */
  isDue: boolean;
}

const subscriptionPattern = /^[ps]?(un)?subscribe$/;
const messagePattern = /^[ps]?message$/;

/** Creates it; `give` gets what the client is to get, `end` how a fault ends the connection in place of a reply. */
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

  /** By RESP2 a subscriber's messages look like any other reply, and by RESP3 the answer to a subscription is a push. */
  const isAsked = (frame: Frame, asked: Pending) => {
    const kind = isSubscriber || frame.type === '>' ? firstOf(frame.value) : '';
    if (subscriptionPattern.test(kind)) return asked.isSubscription;
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
      const asked = pending.find(({ owed }) => owed > 0);
      if (asked === undefined || !isAsked(frame, asked)) return give(frame.bytes);
      asked.owed = frame.type === '-' ? 0 : asked.owed - 1;
      asked.reply = Buffer.concat([asked.reply, frame.bytes]);
      if (asked.owed > 0) return;
      const becomeDue = () => {
        asked.isDue = true;
        giveDue();
      };
      if (asked.treatment.delayReplyMs === undefined) becomeDue();
      else setTimeout(becomeDue, asked.treatment.delayReplyMs).unref();
    },
  };
}

function firstOf(value: Reply): string {
  return Array.isArray(value) ? String(value[0]) : '';
}
