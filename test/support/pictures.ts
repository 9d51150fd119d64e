/** Pictures that look like nothing in particular, but each like itself: the same seed gives the same pixels. */
import sharp, { type Sharp } from "sharp";
import { integerBelow, type Random } from "../../src/base/random.ts";

export interface Picture {
  width: number;
  height: number;
  /** Red, green and blue, eight bits each. */
  pixels: Buffer;
}

type Colour = readonly [number, number, number];

/** What a photograph has: large soft shapes, smaller ones over them, and some grain. */
export async function photo(random: Random, width: number, height: number): Promise<Picture> {
  const layers = [
    { light: await field(random, 3, width, height), weight: 132 },
    { light: await field(random, 7, width, height), weight: 84 },
    { light: await field(random, 24, width, height), weight: 36 },
  ];
  return paint(width, height, (x, y) => {
    const grain = (random.next() - 0.5) * 10;
    const channel = (at: number) =>
      layers.reduce((sum, { light, weight }) => sum + ((light[at] ?? 0) / 255 - 0.5) * weight, 128 + grain);
    const at = (y * width + x) * 3;
    return [channel(at), channel(at + 1), channel(at + 2)];
  });
}

/** Flat boxes and discs with hard edges, as in drawings and screenshots. */
export function drawing(random: Random, width: number, height: number): Picture {
  const shapes = Array.from({ length: 14 }, () => ({
    round: random.next() < 0.5,
    x: random.next() * width,
    y: random.next() * height,
    w: (0.03 + random.next() * 0.15) * width,
    h: (0.03 + random.next() * 0.15) * height,
    colour: anyColour(random),
  }));
  const ground = anyColour(random);
  return paint(width, height, (x, y) => {
    const top = shapes.findLast((shape) => {
      const [dx, dy] = [Math.abs(x - shape.x) / shape.w, Math.abs(y - shape.y) / shape.h];
      return shape.round ? dx * dx + dy * dy < 1 : dx < 1 && dy < 1;
    });
    return top?.colour ?? ground;
  });
}

/** Light that changes in one direction, with slow waves across: smooth, with little in it. */
export function gradient(random: Random, width: number, height: number): Picture {
  const angle = random.next() * 2 * Math.PI;
  const waves = Array.from({ length: 4 }, () => ({
    x: (random.next() - 0.5) * 8 * Math.PI,
    y: (random.next() - 0.5) * 8 * Math.PI,
    phase: random.next() * 2 * Math.PI,
    size: 15 + random.next() * 20,
  }));
  return paint(width, height, (column, row) => {
    const [x, y] = [column / width - 0.5, row / height - 0.5];
    const slope = (x * Math.cos(angle) + y * Math.sin(angle)) * 120;
    const light = waves.reduce((sum, wave) => sum + wave.size * Math.sin(x * wave.x + y * wave.y + wave.phase), 128);
    return [light + slope, light, light - slope];
  });
}

export function plain(width: number, height: number, colour: Colour): Picture {
  return paint(width, height, () => colour);
}

/** Ready to be encoded: `encoder(picture).jpeg().toBuffer()`. */
export function encoder({ width, height, pixels }: Picture): Sharp {
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

function anyColour(random: Random): Colour {
  return [integerBelow(random, 256), integerBelow(random, 256), integerBelow(random, 256)];
}

function paint(width: number, height: number, colour: (x: number, y: number) => Colour): Picture {
  const pixels = Buffer.allocUnsafe(width * height * 3);
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (const value of colour(x, y)) {
        pixels[at] = Math.min(255, Math.max(0, Math.round(value)));
        at += 1;
      }
    }
  }
  return { width, height, pixels };
}

/** A coarse grid of chance, drawn out smoothly. */
async function field(random: Random, cells: number, width: number, height: number): Promise<Buffer> {
  const grid = Buffer.from(Array.from({ length: cells * cells * 3 }, () => integerBelow(random, 256)));
  return sharp(grid, { raw: { width: cells, height: cells, channels: 3 } })
    .resize(width, height, { fit: "fill", kernel: "cubic" })
    .raw()
    .toBuffer();
}
