import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { WholeBody } from '../http/request-body.ts';

/** An own request whose body is still arriving, as the registry sees it: it ends with the credential it came with. */
export interface OpenRequest {
  readonly neededScopes: readonly string[];
  /** Index in the registry, set only by it; -1 if absent. */
  index: number;
  end(): void;
}

/** Registry of own requests whose bodies are arriving. */
export interface OpenRequests {
  add(principal: Principal, request: OpenRequest): void;
  /** Removes a request; does nothing if it is absent. */
  remove(request: OpenRequest): void;
}

/** Builds an own request for the registry; `judge` rejects once the caller may no longer make it. */
export function createOpenRequest(
  neededScopes: readonly string[],
  body: WholeBody,
  judge: () => Promise<unknown>,
): OpenRequest {
  return {
    neededScopes,
    index: -1,
    end() {
      judge().catch((error) => {
        // An unavailable store says nothing about the credential: it is judged once the body is complete.
        if (error instanceof Refusal && (error.status === 401 || error.status === 403)) body.stop(error);
      });
    },
  };
}
