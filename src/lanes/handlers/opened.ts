import { isOrbError } from "../../base/errors.ts";
import { FetchFailure } from "../../domain/run/failure.ts";

/** Unseals a value. When the key has changed, the task fails with a message that says what to do. */
export function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new FetchFailure("session_unusable", `${error.message}. ${error.hint ?? ""}`.trim(), { cause: error });
  }
}
