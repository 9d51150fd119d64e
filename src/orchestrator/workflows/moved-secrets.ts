import { movedSecrets, type SecretsAt } from "../../domain/workflow/moved-secrets.ts";
import { invalid } from "../invalid.ts";

/** Throws `input_invalid` with the secrets that must be sent again. */
export function refuseMovedSecrets(before: SecretsAt, after: SecretsAt, pathOf: (param: string) => string): void {
  const moved = movedSecrets(before, after);
  if (moved.length > 0) throw invalid(moved.map(({ param, message }) => ({ path: pathOf(param), message })));
}
