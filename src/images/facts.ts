/** Facts about an image file after full decoding. */

/** Formats that are decoded. Others are only recognised: some can reference other files, and most are rare. */
export const DECODED_FORMATS = ["jpeg", "png", "gif", "webp", "avif", "tiff"] as const;
export type ImageFormat = (typeof DECODED_FORMATS)[number];

/** Why a file could not be decoded. */
export const IMAGE_PROBLEMS = {
  missing: "the file does not exist or cannot be read",
  not_an_image: "the content is not an image",
  unsupported_format: "an image in an unsupported format, such as SVG or HEIC",
  truncated: "the file ends before the image does",
  undecodable: "the image is damaged beyond recovery",
  too_many_pixels: "more pixels than the limit",
  crashed: "the decoder crashed",
  timeout: "decoding took too long",
  out_of_memory: "decoding needed too much memory",
} as const;
export type ImageProblem = keyof typeof IMAGE_PROBLEMS;

export interface ImageFacts {
  bytes: number;
  /** By content, never by file name: a decoded format or another one; null: not an image. */
  format: string | null;
  /** After EXIF orientation; null: the header was not decoded. */
  width: number | null;
  height: number | null;
  /** Frames or pages in the file. */
  pages: number;
  animated: boolean;
  problem: ImageProblem | null;
  /** The decoder's message about the problem, or about damage that it recovered from. */
  detail: string | null;
  /** Decoded, but parts of the image are missing or wrong. */
  damaged: boolean;
  /** Next to no variation anywhere. */
  blank: boolean;
  /** 16 hexadecimal digits; null with a problem, and for blank images, which would all match each other. */
  hash: string | null;
}

export interface DecodeLimits {
  /** Per image; for an animation, all decoded frames together. */
  maxPixels: number;
  /** Decoded frames per animation. */
  maxPages: number;
}

export function withProblem(problem: ImageProblem, known: Partial<ImageFacts> = {}): ImageFacts {
  return {
    bytes: 0,
    format: null,
    width: null,
    height: null,
    pages: 0,
    animated: false,
    detail: null,
    damaged: false,
    blank: false,
    ...known,
    hash: null,
    problem,
  };
}
