import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { WholeBody } from '../http/request-body.ts';

/** An own request whose body is on its way, as a registry knows it: it ends with the credential it came with. */
export interface OpenRequest {
  readonly principal: Principal;
  readonly neededScopes: readonly string[];
  end(): void;
}

/** Where own requests are registered while their bodies are on their way. */
export interface OpenRequests {
  add(request: OpenRequest): void;
  /** Does no harm when it is not there any more. */
  remove(request: OpenRequest): void;
}

/** Builds an own request for the registry; `judge` rejects once the caller may no longer make it. */
export function createOpenRequest(
  principal: Principal,
  neededScopes: readonly string[],
  body: WholeBody,
  judge: () => Promise<unknown>,
): OpenRequest {
  return {
    principal,
    neededScopes,
    end() {
      judge().catch((error) => {
        // A store that is away says nothing of the credential: it is judged once the body is whole.
        if (error instanceof Refusal && (error.status === 401 || error.status === 403)) body.stop(error);
      });
    },
  };
}
