/** Compares two screenshots: PNG files as Chromium writes them. */
import { inflateSync } from "node:zlib";

interface Picture {
  width: number;
  height: number;
  channels: number;
  pixels: Uint8Array;
}

/** A screenshot of 1280 by 16,000 points. */
const MAX_PIXELS = 20_000_000;
const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** Null: not a PNG with 8 bits per channel, or too large. */
export function readPng(bytes: Buffer): Picture | null {
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) return null;
  const parts: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      if (data.length < 13) return null;
      width = data.readUInt32BE(0);
      height = data.readUInt32BE(4);
      channels = data[9] === 6 ? 4 : data[9] === 2 ? 3 : 0;
      if (data[8] !== 8 || channels === 0 || data[12] !== 0 || width * height > MAX_PIXELS) return null;
    } else if (type === "IDAT") parts.push(data);
    at += 12 + length;
  }
  if (width === 0 || height === 0) return null;
  const stride = width * channels;
  let raw: Buffer;
  try {
    raw = inflateSync(Buffer.concat(parts), { maxOutputLength: (stride + 1) * height });
  } catch {
    return null;
  }
  return raw.length === (stride + 1) * height
    ? { width, height, channels, pixels: unfiltered(raw, stride, height, channels) }
    : null;
}

/** Each row says how it refers to its neighbours. */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let row = 0; row < height; row += 1) {
    const filter = raw[row * (stride + 1)]!;
    const [from, to] = [row * (stride + 1) + 1, row * stride];
    for (let index = 0; index < stride; index += 1) {
      const left = index < channels ? 0 : out[to + index - channels]!;
      const up = row === 0 ? 0 : out[to + index - stride]!;
      const corner = row === 0 || index < channels ? 0 : out[to + index - stride - channels]!;
      out[to + index] = raw[from + index]! + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

const TILE = 16;
/** Differences below are those of anti-aliasing. */
const TOLERANCE = 24;
const MAX_TILES = 4000;

export interface PictureDiff {
  /** Changed pixels of all pixels, without the volatile tiles. */
  share: number;
  /** Changed areas, largest first. */
  boxes: { x: number; y: number; width: number; height: number }[];
  /** All tiles with changed pixels. */
  tiles: number[];
}

export function comparePictures(before: Picture, after: Picture, volatile: readonly number[]): PictureDiff {
  const width = Math.max(before.width, after.width);
  const height = Math.max(before.height, after.height);
  const columns = Math.ceil(width / TILE);
  const skipped = new Set(volatile);
  const counts = new Map<number, number>();
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      if (differs(before, after, x, y)) {
        const tile = Math.floor(y / TILE) * columns + Math.floor(x / TILE);
        if (!skipped.has(tile)) counts.set(tile, (counts.get(tile) ?? 0) + 1);
      }
  const changed = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const tiles = [...counts.keys()];
  return { share: changed / (width * height), boxes: boxesOf(tiles, columns), tiles: tiles.slice(0, MAX_TILES) };
}

function differs(before: Picture, after: Picture, x: number, y: number): boolean {
  if (x >= before.width || x >= after.width || y >= before.height || y >= after.height) return true;
  const at = (y * before.width + x) * before.channels;
  const other = (y * after.width + x) * after.channels;
  for (let channel = 0; channel < 3; channel += 1)
    if (Math.abs(before.pixels[at + channel]! - after.pixels[other + channel]!) > TOLERANCE) return true;
  return false;
}

const MAX_BOXES = 20;

/** Tiles that touch are one area. */
function boxesOf(tiles: readonly number[], columns: number): PictureDiff["boxes"] {
  const left = new Set(tiles);
  const boxes: PictureDiff["boxes"] = [];
  for (const first of tiles) {
    if (!left.delete(first)) continue;
    const open = [first];
    let [minX, minY, maxX, maxY] = [columns, Number.MAX_SAFE_INTEGER, 0, 0];
    for (let tile = open.pop(); tile !== undefined; tile = open.pop()) {
      const [x, y] = [tile % columns, Math.floor(tile / columns)];
      [minX, minY, maxX, maxY] = [Math.min(minX, x), Math.min(minY, y), Math.max(maxX, x), Math.max(maxY, y)];
      for (const [dx, dy] of [
        [-1, 0],
        [1, 0],
        [0, -1],
        [0, 1],
      ] as const) {
        const near = (y + dy) * columns + x + dx;
        if (x + dx >= 0 && x + dx < columns && left.delete(near)) open.push(near);
      }
    }
    boxes.push({
      x: minX * TILE,
      y: minY * TILE,
      width: (maxX - minX + 1) * TILE,
      height: (maxY - minY + 1) * TILE,
    });
  }
  return boxes.toSorted((a, b) => b.width * b.height - a.width * a.height).slice(0, MAX_BOXES);
}
