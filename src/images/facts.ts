/** What is known of an image file after it was really decoded. */

/** Formats that are decoded. All others are known by name at most: some of them reach for other files, and most are rare. */
export const DECODED_FORMATS = ["jpeg", "png", "gif", "webp", "avif", "tiff"] as const;
export type ImageFormat = (typeof DECODED_FORMATS)[number];

/** Why there is nothing to know of the picture in a file. */
export const IMAGE_PROBLEMS = {
  missing: "the file does not exist or cannot be read",
  not_an_image: "the content is not an image",
  unsupported_format: "an image in a format that is not decoded, such as SVG or HEIC",
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
  /** By content, never by name: a decoded format, or the name of another one; null when it is no image. */
  format: string | null;
  /** As people see it, turned as its EXIF orientation says; null when it was not even begun. */
  width: number | null;
  height: number | null;
  /** Pictures in the file. */
  pages: number;
  animated: boolean;
  problem: ImageProblem | null;
  /** What the decoder said about it: about the problem, or about damage that it could read past. */
  detail: string | null;
  /** Decoded, but parts of the picture are missing or wrong. */
  damaged: boolean;
  /** Next to no variation anywhere. */
  blank: boolean;
  /** 16 hexadecimal digits; null with a problem, and for blank pictures, which would all look alike. */
  hash: string | null;
}

export interface DecodeLimits {
  /** Of one picture; the pictures of an animation together are decoded up to it. */
  maxPixels: number;
  /** Of an animation, so many pictures are decoded. */
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
