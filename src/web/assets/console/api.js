/**
 * Calls of Postern's API, by an access token that is kept in memory alone: the refresh cookie, which no script can read,
 * gets it when the page is opened.
 */

/** A response that is no success. */
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
    /** What is wrong with which field, of a 422. @type {readonly Problem[]} */
    this.problems = Array.isArray(body.detail) ? body.detail : [];
    /** Of `insufficient_scope`: `WWW-Authenticate` names all that the call needs, the text only what is missing. @type {readonly string[]} */
    this.missingScopes = /^Missing scope: (.+)$/.exec(this.message)?.[1]?.split(' ') ?? [];
    /** Words for people instead of the general ones for the code; '' for the general ones. @type {unknown} */
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

/** True if what was read before is no longer what is there. @param {unknown} error */
export function isStale(error) {
  return error instanceof ApiError && (error.code === 'precondition_failed' || error.code === 'not_found');
}

/**
 * Gives a refusal the words for what was tried, by its code.
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

export class Api {
  /** @type {string | null} */
  #token = null;
  #expiresMs = 0;
  /** @type {Promise<void> | null} */
  #refreshing = null;
  #expected;
  #signIn;
  #onScopes;
  /** What the signed-in user may do. @type {ReadonlySet<string>} */
  scopes = new Set();
  /** Who is signed in. */
  userId = '';
  /** True if a change has had no response, so that nobody knows what is there now. */
  isUncertain = false;

  /**
   * @param {string} expected Id of the user whom the page was given to.
   * @param {(reason: 'ended' | 'someone else') => Promise<never>} signIn Leads to the sign-in page and back.
   * @param {() => void} onScopes Other scopes than before are held.
   */
  constructor(expected, signIn, onScopes) {
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

  /** Gets a token, or a new one; several at once wait for the same. */
  refresh() {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refresh() {
    const response = await send('POST', '/api/login/refresh-token', {});
    if (response.status === 401) await this.#signIn('ended');
    const { value } = await resultOf(response);
    this.userId = subjectOf(value.access_token);
    // The refresh cookie is another sign-in's, or another host has planted it: nobody acts as someone else without noticing.
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
      // Ended, or narrowed: the cookie knows.
      await this.refresh();
      response = await this.#sendWithToken(method, path, options);
    }
    const result = resultOf(response);
    if (response.status === 403) {
      // What may be done is less than the token says; it is no longer offered once the refusal is shown.
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
    if (method === 'GET') return send(method, path, options);
    const answer = await send(method, path, options).catch(() => null);
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

/** True if a proxy in front of Postern says that it has had no response itself. @param {Answer} answer */
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
