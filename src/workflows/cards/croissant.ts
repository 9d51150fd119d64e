/** A dataset's description for machines: Croissant 1.0 (ML Commons), JSON-LD on schema.org. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { usualEnding } from "../../domain/page/file-magic.ts";
import type { Column, DatasetSurvey, ValueType } from "./survey.ts";

/** What people say of the dataset: the export step cannot know it. */
export interface CardParams {
  description?: string | null;
  license?: string | null;
  url?: string | null;
  /** A name is that of an organization. */
  creator?: string | { name: string; type: "organization" | "person" } | null;
  citation?: string | null;
  version?: string | null;
  /** `2026-11-18`. */
  published?: string | null;
}

interface DescribedFile {
  name: string;
  contentType: string;
  size: number;
  /** SHA-256 in hex. */
  hash: string;
  /** A table of records, with the columns of its rows; its name is that of the split, if there are several. */
  records: { name: string; columns: ReadonlyMap<string, Column> } | null;
}

export interface DatasetFacts {
  name: string;
  /** Name of the workflow. */
  workflow: string;
  /** `2026-11-18`. */
  date: string;
  /** Name of the format. */
  format: string;
  files: readonly DescribedFile[];
  /** The archive that holds files besides the tables; null: none. */
  archive: string | null;
  survey: DatasetSurvey;
  /** The columns that the tables were told to have; null: chosen by the first records. */
  columns: readonly string[] | null;
  card: CardParams;
}

const CROISSANT_TERMS = [
  "citeAs",
  "column",
  "extract",
  "field",
  "fileObject",
  "fileProperty",
  "fileSet",
  "format",
  "includes",
  "isLiveDataset",
  "jsonPath",
  "key",
  "md5",
  "parentField",
  "path",
  "recordSet",
  "references",
  "regex",
  "repeated",
  "replace",
  "separator",
  "source",
  "subField",
  "transform",
];

/** The one of the specification. */
const CONTEXT: JsonValue = {
  "@language": "en",
  "@vocab": "https://schema.org/",
  sc: "https://schema.org/",
  cr: "http://mlcommons.org/croissant/",
  rai: "http://mlcommons.org/croissant/RAI/",
  dct: "http://purl.org/dc/terms/",
  conformsTo: "dct:conformsTo",
  data: { "@id": "cr:data", "@type": "@json" },
  dataType: { "@id": "cr:dataType", "@type": "@vocab" },
  examples: { "@id": "cr:examples", "@type": "@json" },
  ...Object.fromEntries(CROISSANT_TERMS.map((term) => [term, `cr:${term}`])),
};

/** How tools find a value in a file of this format; other formats have no records that they can read. */
const EXTRACT: Readonly<Record<string, (column: string) => JsonValue>> = {
  jsonl: (column) => ({ column }),
  csv: (column) => ({ column }),
  "csv-excel": (column) => ({ column }),
  parquet: (column) => ({ column }),
  json: (column) => ({ jsonPath: `$[*][${JSON.stringify(column)}]` }),
};
/** As tools for Croissant know them. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  "application/x-ndjson": "application/jsonlines",
  "application/vnd.apache.parquet": "application/x-parquet",
};

const DATA_TYPES: Readonly<Record<Exclude<ValueType, "object" | "list">, string>> = {
  boolean: "sc:Boolean",
  integer: "sc:Integer",
  number: "sc:Float",
  text: "sc:Text",
};

export function croissantOf(facts: DatasetFacts): Record<string, JsonValue> {
  const { name, date, card, survey, files } = facts;
  const said = (key: string, value: string | null | undefined) => (value ? { [key]: value } : {});
  const origins = survey.origins.top(1000).map(([origin]) => origin);
  const languages = survey.languages.top(100).map(([language]) => language);
  return {
    "@context": CONTEXT,
    "@type": "sc:Dataset",
    conformsTo: "http://mlcommons.org/croissant/1.0",
    name,
    description: card.description || describe(facts),
    ...said("license", card.license),
    ...said("url", card.url),
    ...(card.creator ? { creator: creatorOf(card.creator) } : {}),
    ...said("citeAs", card.citation),
    ...said("version", card.version),
    ...said("datePublished", card.published),
    dateCreated: date,
    ...(languages.length === 0 ? {} : { inLanguage: languages }),
    ...(origins.length === 0 ? {} : { isBasedOn: origins }),
    distribution: [...files.map(fileObject), ...fileSets(facts)],
    recordSet: files.flatMap((file) => recordSet(facts, file)),
  };
}

function creatorOf(creator: NonNullable<CardParams["creator"]>): JsonValue {
  if (typeof creator === "string") return { "@type": "sc:Organization", name: creator };
  return { "@type": creator.type === "person" ? "sc:Person" : "sc:Organization", name: creator.name };
}

/** One sentence, for those who have given none. */
export function describe({ survey, date, workflow }: DatasetFacts): string {
  const isAll = survey.origins.size === 1 && survey.origins.without === 0;
  const from = isAll ? ` from ${survey.origins.top(1)[0]![0]}` : "";
  return `${survey.rows} records${from}, exported by the workflow ${workflow} on ${date}.`;
}

function fileObject({ name, contentType, size, hash }: DescribedFile): JsonValue {
  const media = contentType.split(";")[0]!.trim();
  return {
    "@type": "cr:FileObject",
    "@id": name,
    name,
    contentUrl: name,
    contentSize: `${size} B`,
    encodingFormat: MEDIA_TYPES[media] ?? media,
    sha256: hash,
  };
}

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/tiff"];

/** The files in an archive, by extension. */
function fileSets({ archive, survey }: DatasetFacts): JsonValue[] {
  if (archive === null) return [];
  return survey.extensions.top(100).map(([extension]) => ({
    "@type": "cr:FileSet",
    "@id": `files-${extension}`,
    name: `files-${extension}`,
    containedIn: { "@id": archive },
    encodingFormat: IMAGE_TYPES.find((type) => usualEnding(type) === extension) ?? "application/octet-stream",
    includes: `**/*.${extension}`,
  }));
}

function recordSet(facts: DatasetFacts, { name, records }: DescribedFile): JsonValue[] {
  const extract = EXTRACT[facts.format];
  if (records === null || extract === undefined) return [];
  const field = [...records.columns].flatMap(([column, seen]) => {
    const type = typeOf(facts, column, seen);
    if (type === null) return [];
    const source = { fileObject: { "@id": name }, extract: extract(column) };
    return [{ "@type": "cr:Field", "@id": `${records.name}/${column}`, name: column, ...type, source }];
  });
  return field.length === 0 ? [] : [{ "@type": "cr:RecordSet", "@id": records.name, name: records.name, field }];
}

/** Null: it is not described, rather than wrongly. */
function typeOf(
  { format, columns }: DatasetFacts,
  name: string,
  { types, elements, isWebAddress, isEarly }: Column,
): Record<string, JsonValue> | null {
  const isJson = format === "json" || format === "jsonl";
  // Other values are in the column for all others, or may be. Parquet adds columns to those that it was told to have.
  const isNamed = columns !== null && (name === "url" || columns.includes(name));
  const isChosen = isEarly && (columns === null || format === "parquet");
  if (!isJson && ((!isNamed && !isChosen) || name === "_more")) return null;
  const scalar = scalarType(types);
  if (scalar === "sc:Text" && name === "url" && isWebAddress) return { dataType: "sc:URL" };
  if (scalar !== null) return { dataType: scalar };
  // Lists and objects are JSON in a table.
  if (!isJson) return { dataType: "sc:Text" };
  const element = types.size === 1 && types.has("list") ? scalarType(elements) : null;
  return element === null ? null : { dataType: element, repeated: true };
}

function scalarType(types: ReadonlySet<ValueType>): string | null {
  if (types.has("object") || types.has("list")) return null;
  const [first = "text", ...more] = types;
  if (more.length === 0) return DATA_TYPES[first as keyof typeof DATA_TYPES];
  return [...types].every((type) => type === "integer" || type === "number") ? "sc:Float" : "sc:Text";
}
