import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import type { DocumentWatch, HeldRequest, Verdict } from "../browser/gate.ts";

/** The guard for a person's own navigation: the proxy checks connections, this checks what is not connected through it. */
export class GuardedDocuments implements DocumentWatch {
  readonly #policy: AddressPolicy;
  readonly #onRefused: (why: FetchFailure) => void;

  constructor(policy: AddressPolicy, onRefused: (why: FetchFailure) => void) {
    this.#policy = policy;
    this.#onRefused = onRefused;
  }

  onRequest({ request }: HeldRequest): Verdict {
    try {
      checkUrl(request.url, this.#policy);
      return "continue";
    } catch (error) {
      if (error instanceof FetchFailure) this.#onRefused(error);
      return "abort";
    }
  }

  onResponse(): Verdict {
    return "continue";
  }
}
