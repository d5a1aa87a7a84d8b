/** Loading of data by a part when it is opened. */

import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError } from './api.js';

/** Name of the event for shown data that may be out of date. */
const stale = 'postern:stale';

/** Reloads everything shown. */
export function reloadAll() {
  dispatchEvent(new Event(stale));
}

/**
 * @template T
 * @typedef {{ readonly value: T | null, readonly error: ApiError | null, readonly isLoading: boolean, reload(): void }} Loaded
 */

/**
 * Hook: the result of `load`, which is called again when a dependency changes; until then the earlier result stays.
 * @template T
 * @param {() => Promise<T>} load
 * @param {readonly unknown[]} dependencies
 * @returns {Loaded<T>}
 */
export function useLoaded(load, dependencies) {
  const [round, setRound] = useState(0);
  // A new object for each load, which tells a result of an earlier load at once.
  const current = useMemo(() => ({}), [...dependencies, round]);
  const [state, setState] = useState(
    /** @type {{ readonly of: object | null, readonly value: T | null, readonly error: ApiError | null }} */ ({
      of: null,
      value: null,
      error: null,
    }),
  );
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setState({ of: current, value, error: null }),
      (error) => isCurrent && setState({ of: current, value: null, error: asApiError(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [current]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    addEventListener(stale, reload);
    return () => removeEventListener(stale, reload);
  }, []);
  const isLoading = state.of !== current;
  return { value: state.value, error: isLoading ? null : state.error, isLoading, reload };
}

/**
 * True until the first result or error: a page shows nothing before, and keeps what it has when something is loaded again.
 * @param {Pick<Loaded<unknown>, 'value' | 'isLoading'>} loaded
 */
export const isPending = ({ value, isLoading }) => isLoading && value === null;

/**
 * Hook: an action started by a person, with its outcome, and a flag while it runs.
 * @template {readonly unknown[]} A
 * @param {(...args: A) => Promise<void>} act
 */
export function useAction(act) {
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const [isRunning, setRunning] = useState(false);
  /** @param {A} args */
  const run = async (...args) => {
    setRunning(true);
    setError(null);
    try {
      await act(...args);
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setRunning(false);
    }
  };
  return { run, error, isRunning };
}

/** @param {unknown} error @returns {ApiError} */
function asApiError(error) {
  if (error instanceof ApiError) return error;
  throw error;
}
