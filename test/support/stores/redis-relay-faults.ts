/** What the relay does instead of passing a command on and its reply back. */
export type RelayFault =
  /** The connection ends once the commands before are answered; this one is never sent. */
  | 'cut-before'
  /** The connection ends once the server has replied, instead of passing the reply on. */
  | 'cut-after'
  /** Never sent, and the connection stays open but silent from then on. */
  | 'swallow-command'
  /** Executed, and the connection stays open but silent from then on. */
  | 'swallow-reply'
  /** Sent that much later, with everything after it; even when the client has disconnected in the meantime. */
  | { readonly delayMs: number }
  /** Executed at once, the reply delayed that much. */
  | { readonly delayReplyMs: number }
  /** Never sent; the client gets that error, e.g. `READONLY You can't write against a read only replica.` */
  | { readonly error: string }
  /** Never sent; the client gets those bytes (in latin1), whether valid or not. */
  | { readonly bytes: string };

/** A command as rules see it. */
export interface RelayCommand {
  /** In lower case. */
  readonly name: string;
  /** As UTF-8. */
  readonly args: readonly string[];
}

/** When a fault strikes. */
export interface RelayRule {
  readonly fault: RelayFault;
  /** At this number of the commands that count since it was armed, over all connections; default 1. */
  readonly at?: number;
  /** At every one from then on, not only at that one. */
  readonly isLasting?: boolean;
  /** Which commands count: names in lower case, or a predicate. Default: all but {@link connectionCommands}. */
  readonly commands?: readonly string[] | ((command: RelayCommand) => boolean);
}

/** A rule that was armed. */
export interface ArmedRule {
  /** How many commands have counted so far. */
  readonly counted: number;
  /** How many times the fault has struck. */
  readonly struck: number;
  /** Resolves when it strikes first. */
  readonly hasStruck: Promise<void>;
  disarm(): void;
}

/** The commands that a client sends by itself to set up or maintain a connection. */
export const connectionCommands: ReadonlySet<string> = new Set(
  'hello auth client select info ping quit role readonly subscribe unsubscribe psubscribe punsubscribe'.split(
    ' ',
  ),
);

/** The treatment of one command. */
export interface Treatment {
  readonly isSent: boolean;
  readonly delayMs?: number;
  readonly delayReplyMs?: number;
  /** Replaces the server's reply. */
  readonly reply?: string;
  /** How the connection ends instead of a reply. */
  readonly ending?: 'cut' | 'silence';
}

/** The rules of a relay. */
export interface RelayRules {
  arm(rule: RelayRule): ArmedRule;
  disarmAll(): void;
  /** Counts the command by every rule; the first rule that strikes decides. */
  treat(command: RelayCommand): Treatment;
}

/** Creates a set without rules. */
export function createRelayRules(): RelayRules {
  const armed = new Set<(command: RelayCommand) => Treatment | undefined>();
  return {
    arm({ fault, at = 1, isLasting = false, commands = isNotConnectionCommand }) {
      const counts =
        typeof commands === 'function' ? commands : ({ name }: RelayCommand) => commands.includes(name);
      const treatment = treatmentOf(fault);
      const { promise: hasStruck, resolve } = Promise.withResolvers<void>();
      let counted = 0;
      let struck = 0;
      const judge = (command: RelayCommand) => {
        if (!counts(command)) return undefined;
        counted++;
        if (counted !== at && !(isLasting && counted > at)) return undefined;
        struck++;
        resolve();
        return treatment;
      };
      armed.add(judge);
      return {
        get counted() {
          return counted;
        },
        get struck() {
          return struck;
        },
        hasStruck,
        disarm: () => void armed.delete(judge),
      };
    },
    disarmAll: () => armed.clear(),
    treat(command) {
      const treatments = [...armed].map((judge) => judge(command));
      return treatments.find((treatment) => treatment !== undefined) ?? { isSent: true };
    },
  };
}

function isNotConnectionCommand({ name }: RelayCommand): boolean {
  return !connectionCommands.has(name);
}

function treatmentOf(fault: RelayFault): Treatment {
  if (typeof fault !== 'string') {
    if ('delayMs' in fault) return { isSent: true, delayMs: fault.delayMs };
    if ('delayReplyMs' in fault) return { isSent: true, delayReplyMs: fault.delayReplyMs };
    return { isSent: false, reply: 'error' in fault ? `-${fault.error}\r\n` : fault.bytes };
  }
  return {
    isSent: fault === 'cut-after' || fault === 'swallow-reply',
    ending: fault.startsWith('cut') ? 'cut' : 'silence',
  };
}
