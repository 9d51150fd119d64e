/** Loading a part of the dashboard (a page, a chart) that is a file of its own, from a server that may be away or another by now. */

/** The server is away; it can be loaded when it is back. */
export class ServerAway extends Error {}

interface PartMeans {
  /** Whether the server is there. */
  answers: () => Promise<boolean>;
  /** Loads the whole page anew, unless that was just done; false: it was. */
  loadAnew: () => boolean;
}

/**
 * What `load` brings. A browser remembers a file that did not come for as long as the page lives, and a server that was
 * upgraded has files of other names: either way only a page that is loaded anew can have it.
 */
export async function loadPart<Part>(load: () => Promise<Part>, { answers, loadAnew }: PartMeans): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (!(await answers()))
      throw new ServerAway("The server does not answer. This page reconnects by itself.", { cause: error });
    // Whatever would come comes to the page that is loaded now.
    if (loadAnew()) return new Promise<never>(() => {});
    throw error;
  }
}

const SOON_MS = 10 * 60_000;

/** Whether a page of this build was loaded anew shortly before, by what was noted then: it would not help again. */
export function wasLoadedAnew(noted: string | null, build: string, now: number): boolean {
  const [at = "", of] = (noted ?? "").split(" ");
  return of === build && now - Number(at) < SOON_MS;
}

export const noteLoadedAnew = (build: string, now: number) => `${now} ${build}`;
