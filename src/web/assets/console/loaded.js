/** What a part shows is asked for when it is opened, and anew when the page comes back from the back/forward cache. */

import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from './api.js';

/**
 * @template T
 * @typedef {{ readonly value: T | null, readonly error: ApiError | null, readonly isLoading: boolean, reload(): void }} Loaded
 */

/**
 * @template T
 * @param {() => Promise<T>} load
 * @param {readonly unknown[]} dependencies
 * @returns {Loaded<T>}
 */
export function useLoaded(load, dependencies) {
  const [state, setState] = useState(
    /** @type {Omit<Loaded<T>, 'reload'>} */ ({ value: null, error: null, isLoading: true }),
  );
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setState((before) => ({ ...before, error: null, isLoading: true }));
    load().then(
      (value) => isCurrent && setState({ value, error: null, isLoading: false }),
      (error) => isCurrent && setState({ value: null, error: asApiError(error), isLoading: false }),
    );
    return () => {
      isCurrent = false;
    };
  }, [...dependencies, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    /** @param {PageTransitionEvent} event */
    const again = (event) => {
      if (event.persisted) reload();
    };
    addEventListener('pageshow', again);
    return () => removeEventListener('pageshow', again);
  }, []);
  return { ...state, reload };
}

/**
 * Something that a person starts: what it came to, and whether it is still going on.
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
  return { run, error, isRunning, clear: () => setError(null) };
}

/** @param {unknown} error @returns {ApiError} */
function asApiError(error) {
  if (error instanceof ApiError) return error;
  throw error;
}
