/**
 * A set of image files such as a crawl brings home, with what is to be found in it: good ones, the same ones twice, smaller
 * and recompressed copies, and all that is broken. The same seed gives the same files.
 */
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { integerBelow, type Random, seededRandom } from "../../src/base/random.ts";
import { drawing, encoder, photo, type Picture, plain } from "./pictures.ts";

export interface MadeImage {
  /** Unique in its set, with an ending. */
  name: string;
  /** What a server would say, by the ending. */
  contentType: string;
  bytes: Buffer;
  expected: {
    /** Why `validate` with the set's rules refuses it; null: it is good. */
    reason: string | null;
    /** Name of the file that has the very same bytes and stands for both, whichever comes first. */
    exactDuplicateOf: string | null;
    /** Name of the larger or better file that shows the same picture. */
    nearDuplicateOf: string | null;
  };
}

export interface ImageSet {
  files: readonly MadeImage[];
  /** Params of the steps, for which the counts are meant. */
  validate: { kind: "image"; min_width: number; min_height: number };
  deduplicate: { distance: number };
  /** The outputs of both steps. */
  counts: {
    validate: { valid: number; invalid: number; reasons: Record<string, number> };
    deduplicate: { kept: number; removed: number; exact: number; near: number };
  };
}

const SMALLEST_SIDE = 64;
/** Of a hundred files; the others are good pictures. */
const SHARES = {
  exact: 8,
  near: 12,
  truncated: 4,
  garbage: 3,
  tiny: 4,
  blank: 2,
  animated: 3,
  bomb: 1,
  wrongEnding: 4,
} as const;
type Kind = keyof typeof SHARES;

const TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
};

export async function makeImageSet({ count, seed }: { count: number; seed: number }): Promise<ImageSet> {
  const random = seededRandom(seed);
  const amount = (kind: Kind) => Math.round((SHARES[kind] * count) / 100);
  const others = (Object.keys(SHARES) as Kind[]).reduce((sum, kind) => sum + amount(kind), 0);
  const files: MadeImage[] = [];
  const add = (label: string, ending: string, bytes: Buffer, expected: Partial<MadeImage["expected"]> = {}) => {
    const name = `${label}-${String(files.length).padStart(5, "0")}.${ending}`;
    const contentType = TYPES[ending] ?? "application/octet-stream";
    files.push({
      name,
      contentType,
      bytes,
      expected: { reason: null, exactDuplicateOf: null, nearDuplicateOf: null, ...expected },
    });
    return name;
  };
  const times = async (kind: Kind, make: (index: number) => Promise<unknown> | unknown) => {
    for (let index = 0; index < amount(kind); index += 1) await make(index);
  };

  const originals: { name: string; bytes: Buffer; picture: Picture }[] = [];
  for (let index = 0; index < Math.max(1, count - others); index += 1) {
    const picture = await anyPicture(random, index);
    // Photographs: drawings are smaller as PNG than their copies, which would be called the better ones.
    const png = index % 4 === 2;
    const bytes = await (png ? encoder(picture).png() : encoder(picture).jpeg({ quality: 92 })).toBuffer();
    originals.push({ name: add("picture", png ? "png" : "jpg", bytes), bytes, picture });
  }
  const anyOriginal = () => originals[integerBelow(random, originals.length)] ?? raise();

  await times("exact", () => {
    const { name, bytes } = anyOriginal();
    add("again", name.slice(-3), bytes, { exactDuplicateOf: name });
  });
  // Each original has one at most: copies of a copy would be two ways to the same picture.
  const copied = shuffled(random, originals).slice(0, amount("near"));
  for (const [index, { name, picture }] of copied.entries()) {
    const { ending, bytes } = await copyOf(picture, index);
    add("copy", ending, bytes, { nearDuplicateOf: name });
  }
  await times("truncated", async (index) => {
    const picture = encoder(await photo(random, 200, 150));
    const [ending, whole] =
      index % 3 === 0
        ? (["png", await picture.png().toBuffer()] as const)
        : index % 3 === 1
          ? (["jpg", await picture.jpeg().toBuffer()] as const)
          : (["webp", await picture.webp().toBuffer()] as const);
    add("cut", ending, whole.subarray(0, Math.floor(whole.length * (0.3 + random.next() * 0.6))), {
      reason: "truncated",
    });
  });
  await times("garbage", (index) => {
    const noise = Buffer.from(Array.from({ length: 2000 }, () => integerBelow(random, 256)));
    const page = Buffer.from(`<!doctype html><title>Not found ${seed}-${index}</title><p>There is no such picture.`);
    // The first byte of a picture is never 0.
    add("junk", "jpg", index % 2 === 0 ? page : Buffer.concat([Buffer.alloc(1), noise]), { reason: "not_an_image" });
  });
  await times("tiny", async (index) => {
    const side = index % 2 === 0 ? { width: 24, height: 200 } : { width: 200, height: 24 };
    const bytes = await encoder(await photo(random, side.width, side.height))
      .png()
      .toBuffer();
    add("tiny", "png", bytes, { reason: index % 2 === 0 ? "width_too_small" : "height_too_small" });
  });
  await times("blank", async (index) => {
    const picture = encoder(plain(160 + index, 120, [integerBelow(random, 256), 200, integerBelow(random, 256)]));
    add("blank", "jpg", await picture.jpeg().toBuffer(), { reason: "blank" });
  });
  await times("animated", async (index) => {
    const frames = await Promise.all(
      [1, 2, 3].map(async () =>
        encoder(await photo(random, 80, 80))
          .png()
          .toBuffer(),
      ),
    );
    const animation = sharp(frames, { join: { animated: true } });
    const bytes = await (index % 2 === 0 ? animation.gif() : animation.webp()).toBuffer();
    add("moving", index % 2 === 0 ? "gif" : "webp", bytes, { reason: "animated" });
  });
  await times("bomb", (index) => add("bomb", "png", pngBomb(60_000 + index, 60_000), { reason: "too_many_pixels" }));
  await times("wrongEnding", async (index) => {
    const bytes = await encoder(await anyPicture(random, index))
      .webp({ quality: 90 })
      .toBuffer();
    add("misnamed", "jpg", bytes);
  });
  return { ...settings, files: shuffled(random, files), counts: countsOf(files) };
}

const settings = {
  validate: { kind: "image", min_width: SMALLEST_SIDE, min_height: SMALLEST_SIDE },
  deduplicate: { distance: 8 },
} as const;

/** A PNG that is small as a file and announces any size. */
export function pngBomb(width: number, height: number): Buffer {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2], 8);
  const chunk = (name: string, content: Buffer) => {
    const named = Buffer.concat([Buffer.from(name), content]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(content.length, 0);
    ends.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
  };
  const pixels = deflateSync(Buffer.alloc(10_000));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", size), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

function anyPicture(random: Random, index: number): Promise<Picture> | Picture {
  const [width, height] = [160 + integerBelow(random, 80), 120 + integerBelow(random, 60)];
  return index % 2 === 0 ? photo(random, width, height) : drawing(random, width, height);
}

/** As thumbnails, converters and those who save space make them. */
async function copyOf(picture: Picture, index: number): Promise<{ ending: string; bytes: Buffer }> {
  const { width, height } = picture;
  switch (index % 4) {
    case 0: {
      const half = encoder(picture).resize(Math.round(width * 0.6), Math.round(height * 0.6));
      return { ending: "jpg", bytes: await half.jpeg({ quality: 80 }).toBuffer() };
    }
    case 1:
      return { ending: "jpg", bytes: await encoder(picture).jpeg({ quality: 40 }).toBuffer() };
    case 2:
      return { ending: "webp", bytes: await encoder(picture).webp({ quality: 50 }).toBuffer() };
    default: {
      const inner = { left: 1, top: 1, width: width - 2, height: height - 2 };
      return { ending: "jpg", bytes: await encoder(picture).extract(inner).jpeg({ quality: 85 }).toBuffer() };
    }
  }
}

function countsOf(files: readonly MadeImage[]): ImageSet["counts"] {
  const reasons: Record<string, number> = {};
  for (const { expected } of files)
    if (expected.reason !== null) reasons[expected.reason] = (reasons[expected.reason] ?? 0) + 1;
  const invalid = files.filter(({ expected }) => expected.reason !== null).length;
  const valid = files.length - invalid;
  const exact = files.filter(({ expected }) => expected.exactDuplicateOf !== null).length;
  const near = files.filter(({ expected }) => expected.nearDuplicateOf !== null).length;
  return {
    validate: { valid, invalid, reasons },
    deduplicate: { kept: valid - exact - near, removed: exact + near, exact, near },
  };
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at -= 1) {
    const other = integerBelow(random, at + 1);
    const moved = copy[at] as T;
    copy[at] = copy[other] as T;
    copy[other] = moved;
  }
  return copy;
}

function raise(): never {
  throw new Error("a set has at least one original");
}
