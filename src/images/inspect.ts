/**
 * Inspects one image file by decoding it. Runs only in a separate process (see inspector.ts): the decoders are native
 * code, and the files are untrusted.
 *
 * Decodes to 64 × 64: JPEG and WebP decoders scale while decoding and still read the file to its end, so truncation is
 * noticed. A 12-megapixel JPEG takes 0.1 s instead of 1.1 s at full size, one of 96 megapixels 0.5 s instead of 20 s
 * (two busy cores).
 */
import { readFile, stat } from "node:fs/promises";
import sharp from "sharp";
import { messageOf } from "../base/errors.ts";
import { contentTypeOf } from "../domain/page/file-magic.ts";
import { DECODED_FORMATS, type DecodeLimits, type ImageFacts, type ImageFormat, withProblem } from "./facts.ts";
import { HASHED_SIDE, perceptualHash } from "./perceptual-hash.ts";
import { structureOf } from "./structure.ts";

const SIDE = 2 * HASHED_SIDE;
/** RGBA. */
const CHANNELS = 4;
/** Channels that vary by less look like one colour; JPEG artefacts reach 4 in a uniform image. */
const BLANK_RANGE = 8;
/** Larger files are not read into memory. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_DETAIL = 200;
/** Warnings about metadata; all others mean that parts of the image are missing or wrong. */
const HARMLESS = /extraneous bytes before marker|profile|exif|xmp|iptc/i;

// Only the decoders of supported formats, and only from memory: an image cannot reference another file.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"].map((name) => `VipsForeignLoad${name}Buffer`),
});
// Every file is decoded once.
sharp.cache(false);
sharp.concurrency(1);

export async function inspectImage(path: string, limits: DecodeLimits): Promise<ImageFacts> {
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) return withProblem("out_of_memory", { bytes: size, detail: `${size} bytes` });
    bytes = await readFile(path);
  } catch (error) {
    return withProblem("missing", { detail: messageOf(error) });
  }
  const type = contentTypeOf(bytes);
  const known = { bytes: bytes.length, format: type?.startsWith("image/") === true ? type.slice(6) : null };
  if (known.format === null) return withProblem("not_an_image", { ...known, detail: type });
  const format = DECODED_FORMATS.find((name) => name === known.format);
  if (format === undefined) return withProblem("unsupported_format", { ...known, detail: type });
  return decode(bytes, format, limits);
}

async function decode(bytes: Buffer, format: ImageFormat, limits: DecodeLimits): Promise<ImageFacts> {
  const structure = structureOf(format, bytes);
  let known: Partial<ImageFacts> = { bytes: bytes.length, format };
  try {
    const { autoOrient, pages = 1 } = await sharp(bytes, { limitInputPixels: false }).metadata();
    const { width, height } = autoOrient;
    const animated = structure.animated || (pages > 1 && format !== "tiff");
    known = { ...known, width, height, pages, animated };
    if (structure.cutOff) return withProblem("truncated", known);
    if (width * height > limits.maxPixels) return withProblem("too_many_pixels", known);
    const count = Math.max(1, Math.min(pages, limits.maxPages, Math.floor(limits.maxPixels / (width * height))));
    const { pixels, complaint } = await pixelsOf(bytes, count, limits.maxPixels);
    const light = Array.from({ length: count }, (_, page) => page)
      .map((page) => pixels.subarray(page * SIDE * SIDE * CHANNELS, (page + 1) * SIDE * SIDE * CHANNELS))
      .find((page) => !isBlank(page));
    return {
      bytes: bytes.length,
      format,
      width,
      height,
      pages,
      animated,
      problem: null,
      detail: complaint,
      damaged: complaint !== null && !HARMLESS.test(complaint),
      blank: light === undefined && isBlank(pixels),
      hash: light === undefined ? null : perceptualHash(lightOf(light)),
    };
  } catch (error) {
    const detail = firstLine(error);
    const cutOff = structure.cutOff || /premature end of JPEG|unexpected end|not enough data/i.test(detail);
    return withProblem(cutOff ? "truncated" : "undecodable", { ...known, detail });
  }
}

/** All frames, stacked vertically. Retries leniently when the strict decoder refuses, and returns its complaint. */
async function pixelsOf(
  bytes: Buffer,
  pages: number,
  limitInputPixels: number,
): Promise<{ pixels: Buffer; complaint: string | null }> {
  const read = (failOn: "warning" | "error") =>
    // EXIF orientation does not apply to animations.
    sharp(bytes, { failOn, limitInputPixels, pages, autoOrient: pages === 1 })
      .toColourspace("srgb")
      .resize(SIDE, SIDE, { fit: "fill" })
      .ensureAlpha()
      .raw()
      .toBuffer();
  try {
    return { pixels: await read("warning"), complaint: null };
  } catch (error) {
    const complaint = firstLine(error);
    try {
      return { pixels: await read("error"), complaint };
    } catch {
      throw new Error(complaint);
    }
  }
}

/** One colour, or fully transparent. */
function isBlank(pixels: Buffer): boolean {
  const [min, max] = [Array<number>(CHANNELS).fill(255), Array<number>(CHANNELS).fill(0)];
  for (let at = 0; at < pixels.length; at += 1) {
    const [channel, value] = [at % CHANNELS, pixels[at] ?? 0];
    if (value < (min[channel] ?? 0)) min[channel] = value;
    if (value > (max[channel] ?? 0)) max[channel] = value;
  }
  if (max[CHANNELS - 1] === 0) return true;
  return max.every((value, channel) => value - (min[channel] ?? 0) <= BLANK_RANGE);
}

/** Luminance at half the size, on a white background. */
function lightOf(pixels: Buffer): Float64Array {
  const light = new Float64Array(HASHED_SIDE * HASHED_SIDE);
  for (let at = 0; at < pixels.length; at += CHANNELS) {
    const colour = 0.299 * (pixels[at] ?? 0) + 0.587 * (pixels[at + 1] ?? 0) + 0.114 * (pixels[at + 2] ?? 0);
    const alpha = (pixels[at + 3] ?? 0) / 255;
    const pixel = at / CHANNELS;
    const cell = (Math.floor(pixel / SIDE) >> 1) * HASHED_SIDE + ((pixel % SIDE) >> 1);
    light[cell] = (light[cell] ?? 0) + (colour * alpha + 255 * (1 - alpha)) / 4;
  }
  return light;
}

/** Decoders repeat their warning for every row. */
function firstLine(error: unknown): string {
  const line = messageOf(error)
    .split("\n")
    .map((text) => text.trim())
    .find((text) => text !== "" && !text.startsWith("Warning treated as error"));
  return (line ?? "the decoder gave no reason").slice(0, MAX_DETAIL);
}
