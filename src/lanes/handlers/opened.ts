import { isOrbError } from "../../base/errors.ts";
import { FetchFailure } from "../../domain/run/failure.ts";

/** Opens what is sealed. A key that is another one now fails the task, and its message says what to do. */
export function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new FetchFailure("session_unusable", `${error.message}. ${error.hint ?? ""}`.trim(), { cause: error });
  }
}
