/** What is known of the places of a page that change on their own. */

export interface VolatileProfile {
  /** Lines with gaps: digests of the steady words, null for a gap. */
  lines: VolatileLine[];
  /** Places between steady lines. */
  slots: VolatileSlot[];
  /** Elements, or the members of a list. */
  regions?: VolatileRegion[];
  /** Lines that differed in some runs, and may turn out to be volatile. */
  suspects: Suspect[];
  /** Elements that differed in some runs. */
  rotations?: Rotation[];
  /** Of a screenshot: tiles that change on their own. */
  tiles?: number[];
}

/** How long a place has been as it is. No words of the page are kept: it may have been fetched with credentials. */
export interface Observed {
  /** The digest of what it held last. */
  last?: string;
  /** In how many runs it has stayed so. */
  steady?: number;
  /** Seen once, beside the content of the run before: not left out until it is seen again. */
  pending?: true;
}

export interface VolatileLine extends Observed {
  words: (string | null)[];
  /** Most words that a gap had. */
  gap: number;
  /** As of an element. */
  off?: true;
}

export interface VolatileSlot extends Observed {
  /** Digests of the lines before and after it. */
  before: string[];
  after: string[];
  /** Most lines that it had. */
  most: number;
  /** Digests of the kinds of elements that its lines may be in, as often as there may be such a line. */
  kinds?: string[];
}

export interface VolatileRegion extends Observed {
  /** See `Regions.keyOf`. */
  key: string;
  /** It has a name that other pages may have, too. */
  marked?: true;
  /** The name of the members of a list; null: the whole element. */
  item: string | null;
  /** `shuffled`: the same members in another order; `words`: the same words of a line. */
  mode: "rotating" | "shuffled" | "words";
  /** It has stayed the same for so long that it counts again, whatever other pages show. */
  off?: true;
}

export interface Suspect {
  place: VolatileLine;
  /** In how many comparisons the line differed, of how many. */
  changed: number;
  compared: number;
}

/** The history of an element that was reported as changed. */
export interface Rotation {
  key: string;
  /** Digests of what it held, oldest first. */
  seen: string[];
  changed: number;
  compared: number;
  /** How often it came back to what it had held before. */
  returns: number;
}

export const NO_PROFILE: VolatileProfile = { lines: [], slots: [], suspects: [] };

export const MAX_ENTRIES = 40;
