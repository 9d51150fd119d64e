import assert from "node:assert/strict";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import { createImageInspector } from "../../src/images/inspector.ts";
import { hashDistance } from "../../src/images/near.ts";
import { drawing, encoder, gradient, photo } from "../support/pictures.ts";
import { tempDir } from "../support/temp-dir.ts";

const WIDTH = 320;
const HEIGHT = 240;

describe("the hash of a picture", () => {
  it("stays near when it is resized, recompressed, turned by its camera or cropped a little, and is far from others [slow]", async () => {
    using dir = tempDir();
    const random = seededRandom(11);
    const copies: string[] = [];
    const save = (name: string, bytes: Buffer) => {
      const path = join(dir.path, name);
      writeFileSync(path, bytes);
      return path;
    };
    const pictures = [
      ...(await Promise.all(Array.from({ length: 8 }, () => photo(random, WIDTH, HEIGHT)))),
      ...Array.from({ length: 8 }, () => drawing(random, WIDTH, HEIGHT)),
      ...Array.from({ length: 4 }, () => gradient(random, WIDTH, HEIGHT)),
    ];
    const originals: string[] = [];
    for (const [at, picture] of pictures.entries()) {
      const source = () => encoder(picture);
      originals.push(save(`${at}.png`, await source().png().toBuffer()));
      const inner = { left: 3, top: 2, width: WIDTH - 6, height: HEIGHT - 4 };
      const created = await Promise.all([
        source().resize(160).jpeg({ quality: 85 }).toBuffer(),
        source().resize(110).jpeg({ quality: 75 }).toBuffer(),
        source().jpeg({ quality: 30 }).toBuffer(),
        source().webp({ quality: 40 }).toBuffer(),
        source().avif({ quality: 50, effort: 0 }).toBuffer(),
        source().extract(inner).jpeg().toBuffer(),
        // As a camera does that was held upright: the pixels lie, and a note says how to turn them.
        source().rotate(270).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
      ]);
      for (const [kind, bytes] of created.entries()) copies.push(save(`${at}-${kind}`, bytes));
    }
    const inspector = createImageInspector({ clock: systemClock, processes: 2 });
    try {
      const hashesOf = async (paths: readonly string[]) =>
        (await inspector.inspect(paths)).map(({ hash }) => hash ?? "");
      const [kept, changed] = [await hashesOf(originals), await hashesOf(copies)];
      for (const [at, hash] of kept.entries()) {
        for (const copy of changed.slice(at * 7, at * 7 + 7)) assert.ok(hashDistance(hash, copy) <= 8, `picture ${at}`);
        for (const other of kept.slice(at + 1)) assert.ok(hashDistance(hash, other) > 8, `picture ${at}`);
      }
    } finally {
      await inspector.close();
    }
  });
});
