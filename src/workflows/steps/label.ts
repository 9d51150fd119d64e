import { messageOf } from "../../base/errors.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { type Conditions, CONDITION_SCHEMAS, compileConditions, faultsOfConditions } from "../conditions.ts";
import { inOrder } from "../items/in-order.ts";
import { addressOf } from "../items/item-keys.ts";
import { foldersOf, textAt, urlOf } from "../items/item-values.ts";
import {
  ENDPOINT_CONCURRENCY,
  ENDPOINT_SCHEMA,
  EndpointLost,
  type LabelEndpoint,
  LabelModel,
} from "../label-endpoint.ts";
import type { Item, StepContext, StepKind } from "../step-kind.ts";

interface LabelParams {
  label?: string | null;
  rules?: readonly (Conditions & { label: string })[] | null;
  from?: string | null;
  endpoint?: string | LabelEndpoint | null;
  drop_unlabelled?: boolean;
}

const WAYS = ["label", "rules", "from", "endpoint"] as const;

const LONGEST_LABEL = 200;
/** At most this many are counted individually; a label unique to every item is useless. */
const MOST_LABELS = 1000;
const NAME = { type: "string", minLength: 1, maxLength: LONGEST_LABEL };

/** The label of an item; `error`: it could not be determined. */
interface Found {
  label: string | null;
  score?: number | null;
  error?: unknown;
}

type Labeller = (item: Item) => Promise<Found>;

export const labelStep: StepKind<LabelParams> = {
  kind: "label",
  about: "Gives items a label: the same for all, by rules, from their URL or a field, or from your model.",
  params: {
    type: "object",
    properties: {
      label: { ...NAME, type: ["string", "null"], description: "One label for all items." },
      rules: {
        type: ["array", "null"],
        minItems: 1,
        maxItems: 1000,
        items: {
          type: "object",
          properties: { label: NAME, ...CONDITION_SCHEMAS },
          required: ["label"],
          additionalProperties: false,
        },
        description:
          "The first rule whose conditions are all met gives the label; a rule without conditions matches the rest.",
      },
      from: {
        type: ["string", "null"],
        pattern: "^(folder|host|search_term|field:.{1,500})$",
        description:
          "folder: the last folder of the URL. host: its host. search_term: the search term. field:PATH: a value within the item.",
      },
      endpoint: { anyOf: [{ type: ["string", "null"], minLength: 1, maxLength: 8192 }, ENDPOINT_SCHEMA] },
      drop_unlabelled: { type: "boolean", description: "Drop items without a label. Default: false." },
    },
    anyOf: WAYS.map((name) => ({ required: [name] })),
    additionalProperties: false,
  },
  check(params) {
    // Null counts as unset: expressions of a template may choose one of them.
    const ways = WAYS.filter((name) => (params[name] ?? null) !== null);
    if (ways.length !== 1)
      return [{ path: "params", message: `expected one of ${WAYS.join(", ")}, got ${ways.length}` }];
    return faultsOfConditions(() => reader(params as LabelParams));
  },
  targets: ({ endpoint }) =>
    typeof endpoint === "string"
      ? [{ path: "params.endpoint", url: endpoint }]
      : typeof endpoint === "object" && endpoint !== null
        ? [{ path: "params.endpoint.url", url: String((endpoint as { url?: string }).url) }]
        : [],
  async run(context, params) {
    const counts = { labelled: 0, unlabelled: 0, failed: 0, labels: {} as Record<string, number> };
    return { kind: "done", output: counts, items: labelled(context, params, counts) };
  },
};

type Counts = { labelled: number; unlabelled: number; failed: number; labels: Record<string, number> };

async function* labelled(context: StepContext, params: LabelParams, counts: Counts): AsyncGenerator<Item> {
  const endpoint = typeof params.endpoint === "string" ? { url: params.endpoint } : (params.endpoint ?? undefined);
  const label = labellerOf(context, params, endpoint);
  const atOnce = endpoint === undefined ? 1 : (endpoint.concurrency ?? ENDPOINT_CONCURRENCY);
  const known = new Map<string, number>();
  let failure: unknown;
  const judged = inOrder(context.inputs(), atOnce, async (item) => {
    context.signal.throwIfAborted();
    return { item, found: await label(item) };
  });
  for await (const { item, found } of judged) {
    const name = found.label?.trim().slice(0, LONGEST_LABEL) ?? "";
    if (found.error !== undefined) {
      counts.failed += 1;
      failure ??= found.error;
    }
    if (name !== "") {
      counts.labelled += 1;
      if (known.has(name) || known.size < MOST_LABELS) known.set(name, (known.get(name) ?? 0) + 1);
    } else counts.unlabelled += 1;
    context.progress(counts.labelled + counts.unlabelled, null);
    if (name === "" && params.drop_unlabelled === true) continue;
    yield {
      ...item,
      ...(name === "" ? {} : { label: name }),
      ...(typeof found.score === "number" ? { label_score: found.score } : {}),
      ...(found.error === undefined ? {} : { label_error: messageOf(found.error) }),
    };
  }
  counts.labels = Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1)));
  refuseUnlessEnough(counts, endpoint, failure);
}

function refuseUnlessEnough(counts: Counts, endpoint: LabelEndpoint | undefined, failure: unknown): void {
  if (counts.failed === 0) return;
  const all = counts.labelled + counts.unlabelled;
  if (counts.failed === all) throw failure;
  if (counts.failed / all <= (endpoint?.max_failed_ratio ?? 1)) return;
  const message = `${counts.failed} of ${all} items could not be labelled, more than max_failed_ratio: ${messageOf(failure)}`;
  throw failure instanceof FetchFailure ? new FetchFailure(failure.failure.reason, message) : new Error(message);
}

function labellerOf(context: StepContext, params: LabelParams, endpoint: LabelEndpoint | undefined): Labeller {
  if (endpoint !== undefined) return byEndpoint(context, endpoint);
  const read = reader(params);
  return async (item) => ({ label: read(item) });
}

/** A failed request concerns one item; EndpointLost ends the step. */
function byEndpoint(context: StepContext, endpoint: LabelEndpoint): Labeller {
  const model = new LabelModel(context, endpoint);
  return async (item) => {
    try {
      return await model.ask(item);
    } catch (error) {
      const isOver = error instanceof EndpointLost || context.signal.aborted;
      if (!(error instanceof FetchFailure) || isOver) throw error;
      return { label: null, error };
    }
  };
}

function reader({ label, rules, from }: LabelParams): (item: Item) => string | null {
  if (typeof label === "string") return () => label;
  if (rules !== undefined && rules !== null) {
    const compiled = rules.map(({ label: name, ...conditions }, index) => ({
      name,
      meets: compileConditions(conditions, `rules[${index}]`),
    }));
    return (item) => compiled.find(({ meets }) => meets(item))?.name ?? null;
  }
  if (from === "folder") return (item) => ofUrl(item, (url) => foldersOf(url).at(-1) ?? null);
  if (from === "host") return (item) => ofUrl(item, (url) => url.hostname);
  if (from === "search_term") return searchTerm;
  return (item) => textAt(item, (from ?? "").slice("field:".length));
}

function ofUrl(item: Item, read: (url: URL) => string | null): string | null {
  const url = urlOf(item);
  return url === null ? null : read(url);
}

const SEARCH_PARAMETERS = ["q", "query", "search", "search_query", "term", "keyword", "keywords", "s"];

/** The search term of the item, or of the URL: the page's rather than the file's. */
function searchTerm(item: Item): string | null {
  const term = textAt(item, "search_term");
  if (term !== null) return term;
  for (const address of [textAt(item, "source_url"), addressOf(item)]) {
    const parameters = typeof address === "string" ? URL.parse(address)?.searchParams : undefined;
    for (const name of SEARCH_PARAMETERS) {
      const value = parameters?.get(name);
      if (value !== undefined && value !== null && value.trim() !== "") return value;
    }
  }
  return null;
}
