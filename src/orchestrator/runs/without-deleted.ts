import { isOrbError } from "../../base/errors.ts";

/** Views of a list of runs, without those deleted since the list was read. */
export async function withoutDeleted<T>(views: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(views);
  return settled.flatMap((view) => {
    if (view.status === "fulfilled") return [view.value];
    if (isOrbError(view.reason, "not_found")) return [];
    throw view.reason;
  });
}
