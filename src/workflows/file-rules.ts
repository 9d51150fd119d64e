/** Rules of `validate`, and the reasons for rejecting a file. */
import { DECODED_FORMATS, IMAGE_PROBLEMS, type ImageFacts } from "../images/facts.ts";
import type { FieldError } from "../base/errors.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";

export interface FileRules {
  min_bytes?: number;
  max_bytes?: number;
  strict_extension?: boolean;
  content_types?: readonly string[];
  sha256?: readonly string[];
}

export type ValidateParams = ({ kind?: "image" } & ImageRules) | ({ kind: "file" } & FileRules);

export interface ImageRules extends Pick<FileRules, "min_bytes" | "max_bytes" | "strict_extension"> {
  min_width?: number;
  max_width?: number;
  min_height?: number;
  max_height?: number;
  min_aspect?: number;
  max_aspect?: number;
  formats?: readonly string[];
  allow_animated?: boolean;
  allow_blank?: boolean;
  allow_damaged?: boolean;
}

/** Every reason, with its meaning for the reference page. */
export const REFUSALS = {
  ...IMAGE_PROBLEMS,
  format_not_allowed: "its format is not in `formats`",
  damaged: "parts of the image are lost, and `allow_damaged` is not set",
  animated: "it is animated, and `allow_animated` is not set",
  blank: "it has a single colour, and `allow_blank` is not set",
  width_too_small: "narrower than `min_width`",
  width_too_large: "wider than `max_width`",
  height_too_small: "lower than `min_height`",
  height_too_large: "higher than `max_height`",
  aspect_too_small: "width divided by height is less than `min_aspect`",
  aspect_too_large: "width divided by height is more than `max_aspect`",
  sha256_not_listed: "its hash is not in `sha256`",
  wrong_content_type: "the content type is not in `content_types`",
  file_too_small: "fewer bytes than `min_bytes`",
  file_too_large: "more bytes than `max_bytes`",
  wrong_extension: "its extension belongs to another format, and `strict_extension` is set",
} as const;
export type Refusal = keyof typeof REFUSALS;

const COUNT = { type: "integer", minimum: 0 };
const ASPECT = { type: "number", exclusiveMinimum: 0, description: "Width divided by height." };

const COMMON_SCHEMAS: Record<string, JsonValue> = {
  kind: { enum: ["image", "file"], description: "What the files must be. Default: image." },
  min_bytes: COUNT,
  max_bytes: COUNT,
  strict_extension: {
    type: "boolean",
    description: "Reject files whose extension belongs to another format. By default, this is only recorded.",
  },
};

const IMAGE_SCHEMAS: Record<string, JsonValue> = {
  min_width: COUNT,
  max_width: COUNT,
  min_height: COUNT,
  max_height: COUNT,
  min_aspect: ASPECT,
  max_aspect: ASPECT,
  formats: { type: "array", items: { enum: [...DECODED_FORMATS] }, minItems: 1, uniqueItems: true },
  allow_animated: { type: "boolean", description: "Also accept animated images." },
  allow_blank: { type: "boolean", description: "Also accept images of a single colour." },
  allow_damaged: { type: "boolean", description: "Also accept images with lost parts." },
};

const FILE_SCHEMAS: Record<string, JsonValue> = {
  content_types: {
    type: "array",
    items: { type: "string", pattern: "^[a-z0-9.+-]+/([a-z0-9.+-]+|\\*)$" },
    minItems: 1,
    description: "Accepted content types, such as application/pdf or image/*; detected from the first bytes.",
  },
  sha256: {
    type: "array",
    items: { type: "string", pattern: "^[0-9a-f]{64}$" },
    minItems: 1,
    maxItems: 100_000,
    description: "Accept only files with these hashes.",
  },
};

const only = (kind: "image" | "file", kindSchemas: Record<string, JsonValue>): JsonValue => ({
  propertyNames: {
    enum: [...Object.keys(COMMON_SCHEMAS), ...Object.keys(kindSchemas)],
    $comment: `what kind ${kind} knows`,
  },
});

export const RULES_SCHEMA: JsonValue = {
  type: "object",
  properties: { ...COMMON_SCHEMAS, ...IMAGE_SCHEMAS, ...FILE_SCHEMAS },
  if: { properties: { kind: { const: "file" } }, required: ["kind"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
  then: only("file", FILE_SCHEMAS),
  else: only("image", IMAGE_SCHEMAS),
  additionalProperties: false,
};

/** Reports bounds with minimum above maximum. */
export function faultsOfRules(rules: Readonly<Record<string, JsonValue>>): FieldError[] {
  return ["width", "height", "aspect", "bytes"].flatMap((name) => {
    const [least, most] = [rules[`min_${name}`], rules[`max_${name}`]];
    if (typeof least !== "number" || typeof most !== "number" || least <= most) return [];
    return [
      { path: `params.min_${name}`, message: `must not be greater than max_${name} (${most}): no file would match` },
    ];
  });
}

/** The most severe reason to reject an image; null: valid. */
export function whyNotImage(facts: ImageFacts, wrongExtension: boolean, rules: ImageRules): Refusal | null {
  const { problem, width, height } = facts;
  if (problem !== null) return problem;
  if (rules.formats !== undefined && !rules.formats.includes(facts.format ?? "")) return "format_not_allowed";
  if (facts.damaged && rules.allow_damaged !== true) return "damaged";
  if (facts.animated && rules.allow_animated !== true) return "animated";
  if (facts.blank && rules.allow_blank !== true) return "blank";
  return (
    outside(width, rules.min_width, rules.max_width, "width") ??
    outside(height, rules.min_height, rules.max_height, "height") ??
    outside((width ?? 0) / (height ?? 1), rules.min_aspect, rules.max_aspect, "aspect") ??
    outside(facts.bytes, rules.min_bytes, rules.max_bytes, "file") ??
    extensionFault(wrongExtension, rules)
  );
}

/** The same for files of any kind. */
export function whyNotFile(
  facts: { sha256: string; bytes: number; contentType: string | null; wrongExtension: boolean },
  rules: FileRules,
): Refusal | null {
  const { sha256, contentType } = facts;
  if (rules.sha256 !== undefined && !rules.sha256.includes(sha256)) return "sha256_not_listed";
  const allowed = rules.content_types;
  if (allowed !== undefined && !allowed.some((type) => isOfType(contentType, type))) return "wrong_content_type";
  return outside(facts.bytes, rules.min_bytes, rules.max_bytes, "file") ?? extensionFault(facts.wrongExtension, rules);
}

function outside(
  value: number | null,
  least = 0,
  most = Infinity,
  name: "width" | "height" | "aspect" | "file",
): Refusal | null {
  if (value === null) return null;
  return value < least ? `${name}_too_small` : value > most ? `${name}_too_large` : null;
}

function extensionFault(wrong: boolean, rules: Pick<FileRules, "strict_extension">): Refusal | null {
  return wrong && rules.strict_extension === true ? "wrong_extension" : null;
}

function isOfType(type: string | null, pattern: string): boolean {
  if (type === null) return false;
  return pattern.endsWith("/*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
