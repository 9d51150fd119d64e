/** Store methods for rows written before secrets were sealed: they may hold secrets in clear. */

/** A stored text that may hold a secret. */
export interface StoredText {
  kind: "workflow" | "template" | "job" | "task_url" | "task_payload";
  /** Which row it is in; means something to the store alone. */
  row: readonly (string | number)[];
  text: string;
}

export interface SealStore {
  /** Texts that nobody has looked at yet, some at a time, and how far that comes; null: all have been. */
  unsealedTexts(): Promise<{ texts: readonly StoredText[]; until: string } | null>;
  /** Puts sealed texts in the place of those that were read, where these are still the same, and notes how far it has come. */
  sealTexts(changes: readonly { was: StoredText; text: string }[], until: string): Promise<void>;
}
