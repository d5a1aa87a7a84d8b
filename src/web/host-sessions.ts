import { byItsUser, type EndSessionParts, endSession } from '../administration/sessions.ts';
import { originOf } from '../endpoints/caller.ts';
import { cookieValues, setCookie } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Session } from '../stores/sessions.ts';
import type { WebArea } from './area.ts';
import type { HostStarts } from './host-starts.ts';

/** Dependencies of {@link HostSessions}. */
export interface HostSessionsOptions {
  readonly area: Pick<WebArea, 'hostCookie' | 'hostCookies' | 'recentSignIns'>;
  readonly starts: HostStarts;
  readonly ending: EndSessionParts;
  readonly absoluteLifetimeMs: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The sessions of browsers that hold the cookie of a named host. */
export class HostSessions {
  readonly #options: HostSessionsOptions;

  constructor(options: HostSessionsOptions) {
    this.#options = options;
  }

  /** The sessions that the browser's cookies name, live or not. Rejects with `store_unavailable`. */
  async held({ head, namedHost }: Exchange): Promise<readonly string[]> {
    const { hostCookie, hostCookies } = this.#options.area;
    const cookies = hostCookies.at(namedHost!.name);
    const values = cookieValues(head.cookie, hostCookie.name);
    await cookies.learnSecretsOf(values);
    return values.map((value) => cookies.read(value)).filter((id) => id !== undefined);
  }

  /** Headers that give the browser the cookie of a session, names and values in turn. */
  begin({ namedHost }: Exchange, { id, created }: Pick<Session, 'id' | 'created'>): readonly string[] {
    const { area, absoluteLifetimeMs, now } = this.#options;
    const maxAgeSeconds = Math.ceil((created + absoluteLifetimeMs - now()) / 1000);
    const value = area.hostCookies.at(namedHost!.name).write(id);
    return ['Set-Cookie', setCookie(area.hostCookie, value, maxAgeSeconds)];
  }

  /** Headers that make the browser forget its session and the starts that it began at the host, names and values in turn. */
  forgetting({ head }: Exchange): readonly string[] {
    const { area, starts } = this.#options;
    return ['Set-Cookie', setCookie(area.hostCookie, '', 0), ...starts.clearAll(head.cookie)];
  }

  /** Ends every session of the browser's cookies, at every host; resolves to those that were live. */
  async end(exchange: Exchange): Promise<readonly Session[]> {
    const { area, ending } = this.#options;
    area.recentSignIns.forget(exchange);
    const ended: Session[] = [];
    for (const id of new Set(await this.held(exchange))) {
      const session = await endSession(ending, id, originOf(exchange), byItsUser(null));
      if (session !== undefined) ended.push(session);
    }
    return ended;
  }
}
