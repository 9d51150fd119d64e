import { type MovedSecret, movedSecrets, type SecretsAt } from "../../domain/workflow/secrets/moved-secrets.ts";
import { invalid } from "../invalid.ts";

/** Throws `input_invalid` with the secrets that must be sent again. */
export function refuseMovedSecrets(
  before: SecretsAt,
  after: SecretsAt,
  pathOf: (part: MovedSecret["part"], inner: string) => string,
): void {
  const moved = movedSecrets(before, after);
  if (moved.length > 0) throw invalid(moved.map(({ part, path, message }) => ({ path: pathOf(part, path), message })));
}
