/** Store methods for rows written before secrets were sealed: they may hold plaintext secrets. */

/** A stored text that may hold a secret. */
export interface StoredText {
  kind: "workflow" | "template" | "job" | "job_version" | "task_url" | "task_payload";
  /** Row reference, opaque to callers. */
  row: readonly (string | number)[];
  text: string;
}

export interface SealStore {
  /** The next batch of unchecked texts, and its end position; null: all are checked. */
  unsealedTexts(): Promise<{ texts: readonly StoredText[]; until: string } | null>;
  /** Replaces texts that are still unchanged by sealed ones, and stores the position. */
  sealTexts(changes: readonly { was: StoredText; text: string }[], until: string): Promise<void>;
}
