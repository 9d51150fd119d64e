import { isOrbError } from "../../base/errors.ts";

/** The views of a list of runs. One that was removed since the list was read is left out. */
export async function stillThere<T>(views: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(views);
  return settled.flatMap((view) => {
    if (view.status === "fulfilled") return [view.value];
    if (isOrbError(view.reason, "not_found")) return [];
    throw view.reason;
  });
}
