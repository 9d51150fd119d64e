/** Images of the demo site, rendered on request: the same seed gives the same bytes. */
import { crc32, deflateSync } from "node:zlib";
import { type Random, seededRandom } from "../base/random.ts";

type Colour = readonly [number, number, number];
/** Coordinates from 0 to 1: an image looks the same in every size. */
type Painter = (x: number, y: number) => Colour;

export type Motif = "hills" | "waves" | "mosaics";

export function paint(motif: Motif, seed: number, width: number, height: number): Buffer {
  return encode(width, height, MOTIFS[motif](seededRandom(seed)));
}

/** A book cover: a colour of its shelf, and a random shape. */
export function paintCover(hue: number, seed: number, width: number, height: number): Buffer {
  const random = seededRandom(seed * 7919);
  const tone = hue + (random.next() - 0.5) * 36;
  const [ground, dark, light] = [
    fromHsl(tone, 0.45, 0.42),
    fromHsl(tone + 14, 0.5, 0.24),
    fromHsl(tone - 20, 0.55, 0.8),
  ] as const;
  const [cx, cy, size] = [0.3 + random.next() * 0.4, 0.4 + random.next() * 0.2, 0.16 + random.next() * 0.14];
  const [rings, stripes] = [2 + Math.floor(random.next() * 4), 3 + Math.floor(random.next() * 6)];
  const isRound = random.next() < 0.5;
  return encode(width, height, (x, y) => {
    if (x < 0.05) return dark;
    if (y > 0.86 && y < 0.9) return light;
    const far = Math.hypot(x - cx, (y - cy) * (height / width));
    if (isRound && far < size) return Math.floor((far / size) * rings) % 2 === 0 ? light : ground;
    if (!isRound && Math.abs(x - cx) < size && Math.abs(y - cy) < size * 0.9)
      return Math.floor((x + y) * stripes * 4) % 2 === 0 ? light : dark;
    return mix(ground, dark, y * 0.7);
  });
}

/** A single colour. */
export function paintBlank(width: number, height: number): Buffer {
  return encode(width, height, () => [222, 214, 200]);
}

const MOTIFS: Readonly<Record<Motif, (random: Random) => Painter>> = { hills, waves, mosaics };

/** A sky, a sun, and hills behind hills. */
function hills(random: Random): Painter {
  const hue = random.next() * 360;
  const [sunX, sunY, sunSize] = [0.15 + random.next() * 0.7, 0.12 + random.next() * 0.3, 0.05 + random.next() * 0.08];
  const [top, low] = [fromHsl(hue, 0.5, 0.3 + random.next() * 0.3), fromHsl(hue + 50, 0.7, 0.85)];
  const rows = Array.from({ length: 4 }, (_, nth) => ({
    base: 0.42 + nth * 0.14 + (random.next() - 0.5) * 0.1,
    waves: Array.from({ length: 3 }, () => [3 + random.next() * 11, random.next() * 7, 0.02 + random.next() * 0.06]),
    colour: fromHsl(hue + 20 + nth * 12, 0.35, 0.55 - nth * 0.13),
  }));
  return (x, y) => {
    const front = rows.findLast(
      ({ base, waves }) =>
        y > base + waves.reduce((sum, [pace = 0, from = 0, size = 0]) => sum + size * Math.sin(x * pace + from), 0),
    );
    if (front !== undefined) return front.colour;
    return Math.hypot(x - sunX, (y - sunY) * 0.75) < sunSize ? [255, 244, 214] : mix(top, low, y * 1.6);
  };
}

/** Interfering circular waves. */
function waves(random: Random): Painter {
  const hue = random.next() * 360;
  const [deep, crest] = [fromHsl(hue, 0.6, 0.25), fromHsl(hue + 30, 0.5, 0.85)];
  const sources = Array.from({ length: 3 }, () => ({
    x: random.next() * 1.4 - 0.2,
    y: random.next() * 1.4 - 0.2,
    pace: 10 + random.next() * 16,
  }));
  return (x, y) => {
    const sum = sources.reduce((height, at) => height + Math.sin(Math.hypot(x - at.x, y - at.y) * at.pace), 0);
    return mix(deep, crest, sum / 6 + 0.5);
  };
}

/** Tiles of random colours. */
function mosaics(random: Random): Painter {
  const [columns, rows, hue] = [5 + Math.floor(random.next() * 4), 4 + Math.floor(random.next() * 3), random.next()];
  const tiles = Array.from({ length: columns * rows }, () =>
    fromHsl(hue * 360 + random.next() * 80, 0.3 + random.next() * 0.5, 0.12 + random.next() * 0.76),
  );
  return (x, y) => {
    const [column, row] = [Math.min(columns - 1, Math.floor(x * columns)), Math.min(rows - 1, Math.floor(y * rows))];
    return tiles[row * columns + column] as Colour;
  };
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const weight = Math.min(1, Math.max(0, share));
  return [0, 1, 2].map((at) => from[at]! + (to[at]! - from[at]!) * weight) as unknown as Colour;
}

/** Hue in degrees. */
function fromHsl(hue: number, saturation: number, lightness: number): Colour {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (from: number) => {
    const turn = (((from + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The PNG filter "Sub": differences to the previous pixel, so gradients compress well. */
const SUB = 1;

function encode(width: number, height: number, painter: Painter): Buffer {
  const line = width * 3 + 1;
  const rows = Buffer.alloc(line * height);
  for (let y = 0; y < height; y += 1) {
    let before: Colour = [0, 0, 0];
    rows[y * line] = SUB;
    for (let x = 0; x < width; x += 1) {
      const [red, green, blue] = painter((x + 0.5) / width, (y + 0.5) / height);
      const now: Colour = [Math.round(red), Math.round(green), Math.round(blue)];
      for (let at = 0; at < 3; at += 1) rows[y * line + 1 + x * 3 + at] = (now[at]! - before[at]!) & 0xff;
      before = now;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, RGB.
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    part("IHDR", header),
    part("IDAT", deflateSync(rows)),
    part("IEND", Buffer.alloc(0)),
  ]);
}

function part(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}
