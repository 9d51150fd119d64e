/** Loads a chunk of the dashboard (a page, a chart) from a server that may be down or upgraded meanwhile. */

/** The server is down; the chunk can be loaded when it is back. */
export class ServerAway extends Error {}

interface PartMeans {
  /** Whether the server answers. */
  answers: () => Promise<boolean>;
  /** Reloads the whole page, unless that was just done; false: it was. */
  loadAnew: () => boolean;
}

/**
 * The loaded chunk. A browser remembers a failed import for the lifetime of the page, and an upgraded server has files
 * with other names: either way only a page reload helps.
 */
export async function loadPart<Part>(load: () => Promise<Part>, { answers, loadAnew }: PartMeans): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (!(await answers()))
      throw new ServerAway("The server does not answer. This page reconnects by itself.", { cause: error });
    // The reloaded page continues.
    if (loadAnew()) return new Promise<never>(() => {});
    throw error;
  }
}

const SOON_MS = 10 * 60_000;

/** Whether a page of this build was reloaded shortly before, according to the stored note: it would not help again. */
export function wasLoadedAnew(noted: string | null, build: string, now: number): boolean {
  const [at = "", of] = (noted ?? "").split(" ");
  return of === build && now - Number(at) < SOON_MS;
}

export const noteLoadedAnew = (build: string, now: number) => `${now} ${build}`;
