/**
 * Looks at one image file by decoding it. Runs only in a process of its own (see inspector.ts): the decoders are native
 * code, and the files come from strangers.
 *
 * The picture is asked for in 64 × 64: decoders that can (JPEG, WebP) make it small while they decode, and still read the
 * file to its end, so that what is cut off is noticed. A JPEG of 12 megapixels takes 0.1 s this way and 1.1 s in full size, one of
 * 96 megapixels 0.5 s and 20 s (two busy cores).
 */
import { readFile, stat } from "node:fs/promises";
import sharp from "sharp";
import { messageOf } from "../base/errors.ts";
import { contentTypeOf } from "../domain/page/file-magic.ts";
import { DECODED_FORMATS, type DecodeLimits, type ImageFacts, type ImageFormat, withProblem } from "./facts.ts";
import { HASHED_SIDE, perceptualHash } from "./perceptual-hash.ts";
import { structureOf } from "./structure.ts";

const SIDE = 2 * HASHED_SIDE;
/** Red, green, blue, and how opaque. */
const CHANNELS = 4;
/** Channels that vary by less look like one colour; JPEG makes differences of up to 4 in a plain picture. */
const BLANK_RANGE = 8;
/** Larger files are not read into memory. */
const MOST_BYTES = 512 * 1024 * 1024;
const MOST_DETAIL = 200;
/** Complaints about what is beside the picture; all others mean that some of it is missing or wrong. */
const HARMLESS = /extraneous bytes before marker|profile|exif|xmp|iptc/i;

// Only decoders of formats that strangers may send, and only from memory: nothing in a picture can name another file.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"].map((name) => `VipsForeignLoad${name}Buffer`),
});
// A file is looked at once.
sharp.cache(false);
sharp.concurrency(1);

export async function inspectImage(path: string, limits: DecodeLimits): Promise<ImageFacts> {
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > MOST_BYTES) return withProblem("out_of_memory", { bytes: size, detail: `${size} bytes` });
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

/** The pages one below the other. What a strict decoder refuses may be readable still: then there is a complaint. */
async function pixelsOf(
  bytes: Buffer,
  pages: number,
  limitInputPixels: number,
): Promise<{ pixels: Buffer; complaint: string | null }> {
  const read = (failOn: "warning" | "error") =>
    // Animations are never turned.
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

/** One colour all over, or nothing to be seen at all. */
function isBlank(pixels: Buffer): boolean {
  const [least, most] = [Array<number>(CHANNELS).fill(255), Array<number>(CHANNELS).fill(0)];
  for (let at = 0; at < pixels.length; at += 1) {
    const [channel, value] = [at % CHANNELS, pixels[at] ?? 0];
    if (value < (least[channel] ?? 0)) least[channel] = value;
    if (value > (most[channel] ?? 0)) most[channel] = value;
  }
  if (most[CHANNELS - 1] === 0) return true;
  return most.every((value, channel) => value - (least[channel] ?? 0) <= BLANK_RANGE);
}

/** Four pixels become one; what is transparent shows a white page. */
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

/** Libraries complain about every row. */
function firstLine(error: unknown): string {
  const line = messageOf(error)
    .split("\n")
    .map((text) => text.trim())
    .find((text) => text !== "" && !text.startsWith("Warning treated as error"));
  return (line ?? "the decoder does not say").slice(0, MOST_DETAIL);
}
