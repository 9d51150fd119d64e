/** The part of the artifact store that fetching uses; declared here, so that the two modules stay independent. */
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
