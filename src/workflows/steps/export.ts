import type { TaskArtifact } from "../../domain/run/outcome.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exporter, ExportRecord, PackedFile } from "../../exporters/exporter.ts";
import { type PackingName, PACKINGS } from "../../exporters/pack.ts";
import { exporterNamed, RECORD_FORMATS } from "../../exporters/registry.ts";
import { type CardParams, croissantOf, type DatasetFacts } from "../cards/croissant.ts";
import { dataCard } from "../cards/data-card.ts";
import { DatasetSurvey } from "../cards/survey.ts";
import { CONDITION_SCHEMAS, compileConditions, type Conditions, faultsOfConditions } from "../conditions.ts";
import { isDevice, safeName } from "../items/dataset-names.ts";
import { type Dataset, type DatasetParams, openDataset, type DatasetEntry } from "../items/dataset.ts";
import { addressOf, hashOf, labelOf } from "../items/item-keys.ts";
import { valueAt } from "../../domain/text/value-at.ts";
import { PATH_SCHEMA } from "../items/item-values.ts";
import type { Item, StepContext, StepKind } from "../step-kind.ts";

/** Null counts as unset: expressions of a template may produce it. */
type NullableParams = { [Name in keyof ExportParams]: ExportParams[Name] | null };

interface ExportParams extends DatasetParams {
  format?: string;
  archive?: PackingName;
  fields?: Readonly<Record<string, string>>;
  name?: string;
  card?: CardParams | false;
}

const SPLIT_NAME = "^[A-Za-z][A-Za-z0-9_-]{0,31}$";
const SAID = { type: ["string", "null"], maxLength: 5000 };
const CARD_SCHEMAS: Record<string, JsonValue> = {
  description: SAID,
  license: SAID,
  url: { ...SAID, pattern: "^https?://[^\\s/]+\\S*$", description: "Address of the dataset's home page: https://…" },
  creator: {
    anyOf: [
      SAID,
      {
        type: "object",
        properties: { name: { type: "string", minLength: 1, maxLength: 500 }, type: { enum: ["organization", "person"] } },
        required: ["name", "type"],
        additionalProperties: false,
      },
    ],
    description: "Name of an organization, or its name and type: organization or person.",
  },
  citation: SAID,
  version: SAID,
  published: {
    ...SAID,
    pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
    description: "Date of publication: 2026-11-18.",
  },
};
/** At most this many labels are counted individually. */
const MOST_LABELS = 1000;
/** The table of images. */
const MANIFEST = "manifest";

export const exportStep: StepKind<NullableParams> = {
  kind: "export",
  about: "Writes its items to a file: a table in any export format, or an archive of their files with a manifest.",
  params: {
    type: "object",
    properties: {
      format: { enum: [...RECORD_FORMATS], description: "Format of the table or manifest. Default: jsonl." },
      images: {
        type: "boolean",
        description: "Export the files themselves, in folders by split and label, with the table as manifest.",
      },
      archive: {
        enum: [...Object.keys(PACKINGS), null],
        description:
          "Pack everything into one file, with one table per split. Default: zip with images, otherwise none.",
      },
      split: {
        type: ["object", "null"],
        propertyNames: { pattern: SPLIT_NAME },
        additionalProperties: { type: "number", exclusiveMinimum: 0, maximum: 1_000_000 },
        minProperties: 1,
        maxProperties: 20,
        description: 'Splits and their shares, such as {"train": 0.8, "val": 0.1, "test": 0.1}.',
      },
      seed: { type: ["string", "integer"], description: "Seed of the split. Default: 0." },
      stratify: { type: "boolean", description: "Apply these shares exactly within each label. Default: false." },
      fields: {
        type: ["object", "null"],
        additionalProperties: PATH_SCHEMA,
        minProperties: 1,
        maxProperties: 200,
        description: "Columns and the paths of their values in the items. Default: all values.",
      },
      where: {
        type: "object",
        properties: CONDITION_SCHEMAS as Record<string, JsonValue>,
        additionalProperties: false,
        description: "Export only items that meet all of these conditions.",
      },
      unique: { ...PATH_SCHEMA, description: "A path: of items with the same value there, export only the first." },
      name: { type: "string", minLength: 1, maxLength: 100, description: "File name without extension." },
      card: {
        anyOf: [
          {
            type: "object",
            properties: CARD_SCHEMAS,
            additionalProperties: false,
          },
          { type: "null" },
          { const: false },
        ],
        description:
          "What the data card and the Croissant description say besides the counts: description, license, url, creator, citation, version, published. false: none is written.",
      },
    },
    additionalProperties: false,
  },
  check({ where, split, fields, images }) {
    const parts = Object.keys(split ?? {});
    const alike = parts.filter((name, at) => parts.slice(0, at).some((other) => sameFolder(other, name)));
    const reserved = new Set([...(images === true ? ["file", "label"] : []), ...(parts.length === 0 ? [] : ["split"])]);
    const doubled = Object.keys(fields ?? {}).filter((name) => reserved.has(name));
    const fault = (param: string, message: string) => (name: string) => ({ path: `params.${param}.${name}`, message });
    return [
      ...faultsOfConditions(() => compileConditions((where ?? {}) as Conditions, "where")),
      ...alike.map(fault("split", "another part has this name, in different case")),
      ...parts.filter(isDevice).map(fault("split", "this name is reserved on Windows: choose another")),
      ...doubled.map(fault("fields", "the table already has a column of this name: choose another")),
    ];
  },
  async run(context, input) {
    const params: ExportParams = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
    const exporter = exporterNamed(params.format ?? "jsonl");
    const manifest = `${MANIFEST}.${exporter.extension}`;
    const dataset = await openDataset(context, params, [manifest]);
    const archive = params.archive ?? (params.images === true ? "zip" : null);
    const survey = new DatasetSurvey();
    // One table, or one per split when packed together; there is always one image manifest.
    const perPart = archive !== null && params.images !== true && params.split !== undefined;
    const counts = await countsOf(dataset, params, perPart, survey);
    const tables = await writeTables(context, dataset, exporter, params, { isPacked: archive !== null, perPart }, counts);
    const packed = archive === null ? null : await pack(context, dataset, tables, archive, nameOf(context, params));
    const files = [...(packed === null ? [] : [packed]), ...tables.map(({ stored }) => stored)];
    const [main] = files as [TaskArtifact];
    const described =
      params.card === false ? [] : await describe(context, params, { exporter, survey, tables, packed });
    return {
      kind: "done",
      output: {
        count: counts.count,
        artifact_hash: main.hash,
        bytes: main.size,
        format: exporter.name,
        ...counts.more,
      },
      items: itemsOf(dataset),
      files: [...files, ...described],
    };
  },
};

interface Counts {
  count: number;
  splits: Map<string, number>;
  more: Record<string, JsonValue>;
}

async function countsOf(
  dataset: Dataset,
  params: ExportParams,
  perPart: boolean,
  survey: DatasetSurvey,
): Promise<Counts> {
  const splits = new Map(Object.keys(params.split ?? {}).map((name) => [name, 0]));
  const labels = new Map<string, number>();
  let count = 0;
  for await (const entry of dataset.entries()) {
    const { item, split, file } = entry;
    count += 1;
    survey.add(item, rowOf(entry, params), { table: perPart ? split : null, file });
    if (split !== null) splits.set(split, (splits.get(split) ?? 0) + 1);
    const label = labelOf(item);
    if (label !== null && (labels.has(label) || labels.size < MOST_LABELS))
      labels.set(label, (labels.get(label) ?? 0) + 1);
  }
  const more = {
    ...(params.split === undefined ? {} : { splits: Object.fromEntries(splits) }),
    ...(labels.size === 0 ? {} : { labels: Object.fromEntries([...labels].sort(([a], [b]) => (a < b ? -1 : 1))) }),
    ...(params.images === true ? { missing: dataset.missing } : {}),
  };
  return { count, splits, more };
}

interface Table {
  path: string;
  /** Its split, if each has a table of its own. */
  part: string | null;
  shrinks: boolean;
  stored: TaskArtifact;
}

async function writeTables(
  context: StepContext,
  dataset: Dataset,
  exporter: Exporter,
  params: ExportParams,
  { isPacked, perPart }: { isPacked: boolean; perPart: boolean },
  counts: Counts,
): Promise<Table[]> {
  const { extension, contentType, isText } = exporter;
  const base = params.images === true ? MANIFEST : isPacked ? "data" : nameOf(context, params);
  const tables: Table[] = [];
  for (const part of perPart ? counts.splits.keys() : [null]) {
    const path = `${part ?? base}.${extension}`;
    const columns = columnsOf(params);
    const options = { plain: true, ...(columns === null ? {} : { columns }) };
    const records = recordsOf(context, dataset, params, part, counts.count);
    const stored = await context.files.save(exporter.export(records, options), { name: path, contentType });
    tables.push({ path, part, shrinks: isText, stored });
  }
  return tables;
}

/** Columns of the image manifest, for which items have values. */
const MANIFEST_COLUMNS: Readonly<Record<string, string>> = {
  width: "image.width",
  height: "image.height",
  bytes: "bytes",
  hash: "hash",
  content_type: "content_type",
  source_url: "source_url",
  name: "name",
  license: "license",
  licence: "licence",
  license_url: "license_url",
  attribution: "attribution",
  author: "author",
  credit: "credit",
};
const ALWAYS = new Set(["width", "height", "bytes", "hash"]);

function columnsOf({ fields, images, split }: ExportParams): string[] | null {
  const split_ = split === undefined ? [] : ["split"];
  if (images === true) return [...new Set(["file", "label", ...split_, ...ALWAYS, ...Object.keys(fields ?? {})])];
  return fields === undefined ? null : [...Object.keys(fields), ...split_].filter((name) => name !== "url");
}

async function* recordsOf(
  context: StepContext,
  dataset: Dataset,
  params: ExportParams,
  part: string | null,
  total: number,
): AsyncGenerator<ExportRecord> {
  let done = 0;
  for await (const entry of dataset.entries()) {
    if (part !== null && entry.split !== part) continue;
    const { url, ...data } = rowOf(entry, params);
    yield { id: "", run_id: context.run.id, task_id: "", url, data, created_at: "" };
    done += 1;
    context.progress(done, total * (params.images === true ? 2 : 1));
  }
}

function rowOf(entry: DatasetEntry, params: ExportParams): Record<string, JsonValue> & { url: string } {
  const { url = addressOf(entry.item) ?? "", ...data } = dataOf(entry, params);
  return { url: String(url ?? ""), ...data };
}

function dataOf({ item, split, file }: DatasetEntry, { fields, images }: ExportParams): Record<string, JsonValue> {
  const named = Object.fromEntries(
    Object.entries(fields ?? {}).map(([name, path]) => [name, valueAt(item, path) ?? null]),
  );
  const part = split === null ? {} : { split };
  if (images !== true) return { ...(fields === undefined ? (item as Record<string, JsonValue>) : named), ...part };
  const known = Object.entries(MANIFEST_COLUMNS).flatMap(([name, path]) => {
    const value = valueAt(item, path);
    return value === undefined && !ALWAYS.has(name) ? [] : [[name, value ?? null] as const];
  });
  return { file, label: labelOf(item), ...part, ...Object.fromEntries(known), ...named };
}

/** The data card and the Croissant description. They have a date, so they are beside the archive, whose bytes stay the same. */
async function describe(
  context: StepContext,
  params: ExportParams,
  made: { exporter: Exporter; survey: DatasetSurvey; tables: readonly Table[]; packed: TaskArtifact | null },
): Promise<TaskArtifact[]> {
  const { exporter, survey, tables, packed } = made;
  const name = nameOf(context, params);
  const archive = packed === null ? null : fileNameOf(packed);
  const facts: DatasetFacts = {
    name,
    workflow: context.run.name,
    date: new Date(context.clock.now()).toISOString().slice(0, 10),
    format: exporter.name,
    files: [
      ...(packed === null ? [] : [{ ...described(packed), records: null }]),
      ...tables.map(({ stored, part }) => ({
        ...described(stored),
        records: { name: part ?? "records", columns: survey.columnsOf(part) },
      })),
    ],
    archive: params.images === true ? archive : null,
    survey,
    columns: columnsOf(params),
    card: params.card || {},
  };
  const save = (text: string, file: string, contentType: string) =>
    context.files.save([Buffer.from(text)], { name: file, contentType });
  return [
    await save(`${JSON.stringify(croissantOf(facts), null, 2)}\n`, `${name}.croissant.json`, "application/ld+json"),
    await save(await dataCard(context, facts), `${name}.card.md`, "text/markdown; charset=utf-8"),
  ];
}

function described({ hash, size, contentType, url }: TaskArtifact) {
  return { name: fileNameOf({ url }), contentType: contentType ?? "application/octet-stream", size, hash };
}

/** As people download it. */
function fileNameOf({ url }: Pick<TaskArtifact, "url">): string {
  return decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
}

async function pack(
  context: StepContext,
  dataset: Dataset,
  tables: readonly Table[],
  archive: PackingName,
  name: string,
): Promise<TaskArtifact> {
  const { pack: packed, contentType, extension } = PACKINGS[archive];
  return context.files.save(packed(packedFiles(context, dataset, tables)), {
    name: `${name}.${extension}`,
    contentType,
  });
}

async function* packedFiles(
  { files }: StepContext,
  dataset: Dataset,
  tables: readonly Table[],
): AsyncGenerator<PackedFile> {
  for (const { path, shrinks, stored } of tables)
    yield { path, size: stored.size, shrinks, open: () => files.open(stored.hash) };
  for await (const { item, file } of dataset.entries()) {
    const hash = hashOf(item);
    if (file !== null && hash !== null)
      yield { path: file, size: (await files.sizeOf(hash)) ?? 0, shrinks: false, open: () => files.open(hash) };
  }
}

async function* itemsOf(dataset: Dataset): AsyncGenerator<Item> {
  for await (const { item, split, file } of dataset.entries())
    yield { ...item, ...(split === null ? {} : { split }), ...(file === null ? {} : { file }) };
}

function sameFolder(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function nameOf({ run }: StepContext, { name }: ExportParams): string {
  return safeName(name ?? run.name).toLowerCase() || "dataset";
}
