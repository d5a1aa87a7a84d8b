/**
 * Calls of Postern's API by an access token that is kept only in memory: the refresh cookie, which no script can read, obtains it
 * when the page is opened.
 */

/** Error for a response other than a success. */
export class ApiError extends Error {
  /**
   * @param {number} status 0: there was none.
   * @param {{ code?: string, detail?: unknown, request_id?: string }} body
   * @param {Headers} headers
   */
  constructor(status, body, headers) {
    super(
      typeof body.detail === 'string'
        ? body.detail
        : 'Something on the way to Postern has failed. Try again.',
    );
    this.status = status;
    this.code = body.code ?? (status === 422 ? 'validation_error' : 'unknown');
    this.requestId = body.request_id ?? headers.get('x-request-id') ?? '';
    /** Problems of fields, from a 422. @type {readonly Problem[]} */
    this.problems = Array.isArray(body.detail) ? body.detail : [];
    /**
     * Missing scopes of `insufficient_scope`, from its text: `WWW-Authenticate` names all required ones.
     * @type {readonly string[]}
     */
    this.missingScopes = /^Missing scope: (.+)$/.exec(this.message)?.[1]?.split(' ') ?? [];
    /** Words for people in place of the code's general ones; '' for the general ones. @type {unknown} */
    this.words = '';
  }
}

/**
 * @typedef {{
 *   readonly type: string,
 *   readonly msg: string,
 *   readonly loc: readonly (string | number)[],
 *   readonly ctx?: Readonly<Record<string, unknown>>,
 * }} Problem
 * @typedef {{ readonly body?: unknown, readonly ifMatch?: string | null }} CallOptions
 * @typedef {{ readonly value: any, readonly etag: string | null }} ApiResult
 */

/** True if the record has changed or gone since it was read. @param {unknown} error */
export function isStale(error) {
  return error instanceof ApiError && (error.code === 'precondition_failed' || error.code === 'not_found');
}

/**
 * Settles as `call` does; a refusal gets the words for its code, which tell people about the attempted action.
 * @template T
 * @param {Readonly<Record<string, unknown>>} words
 * @param {Promise<T>} call
 * @returns {Promise<T>}
 */
export async function inWords(words, call) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError) error.words = words[error.code] ?? '';
    throw error;
  }
}

/** Calls of the API; every path is below `base`. */
export class Api {
  /** Path of the API: `api_path` of the configuration. */
  base;
  /** @type {string | null} */
  #token = null;
  #expiresMs = 0;
  /** @type {Promise<void> | null} */
  #refreshing = null;
  #expected;
  #signIn;
  #onScopes;
  /** Scopes of the signed-in user. @type {ReadonlySet<string>} */
  scopes = new Set();
  /** Id of the signed-in user. */
  userId = '';
  /** True if a change has had no response, so that its outcome is unknown. */
  isUncertain = false;

  /**
   * @param {string} base
   * @param {string} expected Id of the user whom the page was given to.
   * @param {(reason: 'ended' | 'someone else') => Promise<never>} signIn Leads to the sign-in page and back.
   * @param {() => void} onScopes Called when the user's scopes have changed.
   */
  constructor(base, expected, signIn, onScopes) {
    this.base = base;
    this.#expected = expected;
    this.#signIn = signIn;
    this.#onScopes = onScopes;
  }

  /** @param {string} path @param {CallOptions} [options] @returns {Promise<ApiResult>} */
  get(path, options) {
    return this.#call('GET', path, options);
  }

  /** @param {string} path @param {unknown} [body] @returns {Promise<ApiResult>} */
  post(path, body) {
    return this.#call('POST', path, { body });
  }

  /** @param {string} path @param {unknown} body @param {string | null} [ifMatch] @returns {Promise<ApiResult>} */
  patch(path, body, ifMatch = null) {
    return this.#call('PATCH', path, { body, ifMatch });
  }

  /** @param {string} path @param {unknown} body @returns {Promise<ApiResult>} */
  put(path, body) {
    return this.#call('PUT', path, { body });
  }

  /** @param {string} path @param {string | null} [ifMatch] @returns {Promise<ApiResult>} */
  delete(path, ifMatch = null) {
    return this.#call('DELETE', path, { ifMatch });
  }

  /** Gets a new token; concurrent calls wait for the same one. */
  refresh() {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refresh() {
    const response = await send('POST', `${this.base}/login/refresh-token`, {});
    if (response.status === 401) await this.#signIn('ended');
    const { value } = await resultOf(response);
    this.userId = subjectOf(value.access_token);
    // The refresh cookie is of another sign-in, or planted by another host: no one must act as someone else unnoticed.
    if (this.userId !== this.#expected) await this.#signIn('someone else');
    this.#token = value.access_token;
    this.#expiresMs = performance.now() + value.expires_in * 1000;
    const before = [...this.scopes].join(' ');
    this.scopes = new Set(value.scope === '' ? [] : value.scope.split(' '));
    if (before !== [...this.scopes].join(' ')) this.#onScopes();
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<ApiResult>}
   */
  async #call(method, path, options = {}) {
    if (this.#token === null || performance.now() > this.#expiresMs - 5_000) await this.refresh();
    let response = await this.#sendWithToken(method, path, options);
    if (response.status === 401) {
      // The session has ended or was narrowed: the refresh tells which.
      await this.refresh();
      response = await this.#sendWithToken(method, path, options);
    }
    const result = resultOf(response);
    if (response.status === 403) {
      // The user's rights are fewer than the token's: actions without rights disappear once the refusal is shown.
      await Promise.allSettled([result, this.refresh()]);
    }
    return result;
  }

  /** @param {string} method @param {string} path @param {CallOptions} options */
  async #sendWithToken(method, path, { body, ifMatch }) {
    /** @type {Record<string, string>} */
    const headers = { authorization: `Bearer ${this.#token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (ifMatch) headers['if-match'] = ifMatch;
    const options = { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    if (method === 'GET') return send(method, this.base + path, options);
    const answer = await send(method, this.base + path, options).catch(() => null);
    if (answer !== null && !isOfGateway(answer)) return answer;
    this.isUncertain = true;
    throw new ApiError(0, { code: 'outcome_unknown' }, new Headers());
  }
}

/** The `sub` of a token (RFC 7519 §4.1.2). @param {string} token */
function subjectOf(token) {
  const payload = token.split('.')[1] ?? '';
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).sub;
}

/** @typedef {{ readonly status: number, readonly ok: boolean, readonly headers: Headers, readonly text: string }} Answer */

/** @param {string} method @param {string} path @param {RequestInit} options @returns {Promise<Answer>} */
async function send(method, path, options) {
  try {
    const response = await fetch(path, { ...options, method, cache: 'no-store', redirect: 'error' });
    const { status, ok, headers } = response;
    return { status, ok, headers, text: await response.text() };
  } catch {
    throw new ApiError(0, { code: 'no_response', detail: 'There was no response' }, new Headers());
  }
}

/** True if the response is a proxy's, which got none from Postern. @param {Answer} answer */
function isOfGateway({ status, text }) {
  return (status === 502 || status === 504) && parsed(text)?.code === undefined;
}

/** @param {Answer} answer @returns {Promise<ApiResult>} */
async function resultOf({ ok, status, headers, text }) {
  const value = text === '' ? null : parsed(text);
  if (!ok) throw new ApiError(status, value ?? {}, headers);
  return { value, etag: headers.get('etag') };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
