import { movedSecrets, type SecretsAt } from "../../domain/workflow/moved-secrets.ts";
import { invalid } from "../invalid.ts";
import type { PathOf } from "./source.ts";

/** Throws `input_invalid` with the secrets that must be sent again. */
export function refuseMovedSecrets(before: SecretsAt, after: SecretsAt, pathOf: PathOf): void {
  const moved = movedSecrets(before, after);
  if (moved.length > 0) throw invalid(moved.map(({ param, message }) => ({ path: pathOf("params", param), message })));
}
