/**
 * What fetching needs from the place where bodies go. The artifact store has this shape; stating it here keeps the two
 * rooms on one floor apart.
 */
export interface PartOf {
  key: string;
  url: string;
  etag: string | null;
  lastModified: string | null;
  total: number | null;
}

export interface BodyWriter {
  readonly size: number;
  write(chunk: Buffer): void | Promise<void>;
  finish(): Promise<{ hash: string; size: number }>;
  abort(keepPart: boolean): Promise<void>;
}

export interface BodyStore {
  writer(options?: { part?: PartOf; resume?: boolean }): BodyWriter;
  resumable(partKey: string): (PartOf & { offset: number }) | null;
  dropPart(partKey: string): void;
}
