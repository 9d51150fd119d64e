/** Locates and moves the objects of a file in the bucket. The layout is the one of an artifact folder. */
import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileMode } from "../../base/files/file-modes.ts";
import { onDiskAsync } from "../disk.ts";
import { artifactPath, type Folder } from "../layout.ts";
import { YOUNG_MS } from "../orphaned-files.ts";
import { contentSize, HEAD_BYTES, PACKED_SUFFIX, packer, packingPays, SAMPLE_BYTES, unpacked } from "../packing.ts";
import type { Bucket, ObjectInfo } from "./bucket.ts";

const COLD = "cold/";
/** Quarantine for objects that are about to be removed. */
const QUARANTINE = "loose/";

export class StoredObjects {
  readonly #bucket: Bucket;
  readonly #folder: Folder;

  constructor(bucket: Bucket, folder: Folder) {
    this.#bucket = bucket;
    this.#folder = folder;
  }

  async find(hash: string): Promise<ObjectInfo | null> {
    const hot = await this.#bucket.head(artifactPath(hash));
    const found = hot ?? (await this.#cold(hash))[0] ?? (await this.#quarantined(hash))[0] ?? null;
    if (found === null) await this.#isGone(hash);
    return found;
  }

  async open(hash: string): Promise<Readable | null> {
    return (await this.#openOnce(hash)) ?? this.#openOnce(hash);
  }

  /** It may be moved between two requests; every move creates the new object before it removes the old one. */
  async #openOnce(hash: string): Promise<Readable | null> {
    const hot = await this.#bucket.get(artifactPath(hash));
    if (hot !== null) return hot;
    const key = ((await this.#cold(hash))[0] ?? (await this.#quarantined(hash))[0])?.key;
    const stored = key === undefined ? null : await this.#bucket.get(key);
    return stored !== null && key?.endsWith(PACKED_SUFFIX) === true ? unpacked(stored) : stored;
  }

  /** Unpacked size. */
  async sizeOf(hash: string): Promise<number | null> {
    const found = await this.find(hash);
    if (found === null || !found.key.endsWith(PACKED_SUFFIX)) return found?.bytes ?? null;
    const head = await this.#bucket.get(found.key, { to: HEAD_BYTES });
    return head === null ? null : contentSize(await readAll(head));
  }

  async coolDown(hash: string): Promise<{ before: number; after: number } | null> {
    const hot = artifactPath(hash);
    const found = (await this.#bucket.head(hot)) ?? (await this.#putBack(hash));
    if (found === null) {
      const cold = await this.find(hash);
      return cold === null ? null : { before: (await this.sizeOf(hash)) ?? cold.bytes, after: cold.bytes };
    }
    const plain = COLD + hot.slice("sha256/".length);
    const sample = await this.#bucket.get(hot, { to: SAMPLE_BYTES });
    const pays = sample !== null && found.bytes > 0 && (await packingPays(await readAll(sample)));
    const after = pays ? await this.#pack(hot, plain + PACKED_SUFFIX, found.bytes) : found.bytes;
    if (!pays) await this.#copy(found, plain);
    await this.#bucket.remove(hot);
    return { before: found.bytes, after };
  }

  /**
   * Objects cannot be renamed, and a concurrent writer of the same content is indistinguishable from an old one. So an
   * orphaned object first moves to quarantine, where it stays readable; an hour later it is removed if still no row
   * references it and no process has stored it again.
   */
  async removeOrphaned(hash: string, isOrphaned: () => Promise<boolean>): Promise<boolean> {
    const hot = await this.#bucket.head(artifactPath(hash));
    const present = [...(hot === null ? [] : [hot]), ...(await this.#cold(hash))];
    const isYoung = ({ ageMs }: ObjectInfo) => ageMs < YOUNG_MS;
    if (present.length > 0) {
      if (present.some(isYoung) || !(await isOrphaned())) return false;
      for (const object of present) {
        await this.#copy(object, QUARANTINE + object.key.slice(object.key.lastIndexOf("/") + 1));
        await this.#bucket.remove(object.key);
      }
      return false;
    }
    const quarantined = await this.#quarantined(hash);
    if (quarantined.some(isYoung)) return false;
    if (quarantined.length === 0) return this.#isGone(hash);
    if (!(await isOrphaned())) {
      await this.#putBack(hash);
      return false;
    }
    for (const { key } of quarantined) await this.#bucket.remove(key);
    return true;
  }

  /** Distinguishes a missing bucket from a missing object. */
  async #isGone(hash: string): Promise<boolean> {
    const bytes = await this.#bucket.get(artifactPath(hash));
    bytes?.destroy();
    return bytes === null;
  }

  /** Referenced again: moves it back to the hot tier, or to the archive tier if it is compressed. */
  async #putBack(hash: string): Promise<ObjectInfo | null> {
    let hot: ObjectInfo | null = null;
    for (const object of await this.#quarantined(hash)) {
      const packed = object.key.endsWith(PACKED_SUFFIX);
      const key = packed ? `${COLD}${hash.slice(0, 2)}/${hash}${PACKED_SUFFIX}` : artifactPath(hash);
      await this.#copy(object, key);
      await this.#bucket.remove(object.key);
      if (!packed) hot = { ...object, key };
    }
    return hot;
  }

  #cold(hash: string): Promise<ObjectInfo[]> {
    return this.#heads(COLD + artifactPath(hash).slice("sha256/".length));
  }

  #quarantined(hash: string): Promise<ObjectInfo[]> {
    return this.#heads(QUARANTINE + hash);
  }

  /** HEAD by key: faster and cheaper than a listing. */
  async #heads(plain: string): Promise<ObjectInfo[]> {
    const found = await Promise.all([plain + PACKED_SUFFIX, plain].map((key) => this.#bucket.head(key)));
    return found.filter((object) => object !== null);
  }

  async #copy(object: ObjectInfo, to: string): Promise<void> {
    if (await this.#bucket.copy(object.key, to, object.bytes)) return;
    const bytes = await this.#bucket.get(object.key);
    // Gone: another process has moved it.
    if (bytes !== null) await this.#sendDraft(to, (draft) => pipeline(bytes, draft));
  }

  async #pack(from: string, to: string, size: number): Promise<number> {
    const bytes = await this.#bucket.get(from);
    if (bytes === null) return 0;
    return this.#sendDraft(to, (draft) => pipeline(bytes, packer(size), draft));
  }

  /** Uploads through a local temporary file; returns its size. */
  async #sendDraft(key: string, fill: (draft: NodeJS.WritableStream) => Promise<void>): Promise<number> {
    const path = this.#folder.temporary();
    try {
      await onDiskAsync(() => fill(createWriteStream(path, { flags: "wx", mode: fileMode() })));
      const { size } = await stat(path);
      await this.#bucket.putFile(key, path, size);
      return size;
    } finally {
      await rm(path, { force: true });
    }
  }
}

async function readAll(bytes: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
