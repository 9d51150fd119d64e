/** What is answered when something is not done, in the shape that Firecrawl's clients read. */
import { type FieldError, isOrbError } from "../base/errors.ts";
import type { InputReader } from "../domain/text/input-reader.ts";
import { answerTo } from "../api/problems.ts";

interface FaultBody {
  success: false;
  error: string;
  code?: string;
  details?: unknown;
}

export class FirecrawlFault extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly details: unknown;

  constructor(status: number, error: string, { code, details }: { code?: string; details?: unknown } = {}) {
    super(error);
    this.name = "FirecrawlFault";
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Every field that is wrong, by its name here. */
export function badRequest(problems: readonly FieldError[]): FirecrawlFault {
  const list = problems.slice(0, 5).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const more = problems.length > list.length ? `; and ${problems.length - list.length} more` : "";
  return new FirecrawlFault(400, `Bad Request: ${list.join("; ")}${more}`, {
    code: "BAD_REQUEST",
    details: problems.slice(0, 50).map(({ path, message }) => ({ path: path.split("."), message })),
  });
}

export function rejectInvalid(reader: InputReader): void {
  reader.rejectUnknownKeys();
  if (reader.errors.length > 0) throw badRequest(reader.errors);
}

/** Only these mean something to its clients; others are turned into the nearest. 502 would be tried again at once. */
const STATUSES: Readonly<Record<number, number>> = { 422: 400, 421: 400, 502: 500, 507: 503 };

const CODES: Readonly<Record<string, string>> = { not_found: "NOT_FOUND", unauthorized: "UNAUTHORIZED" };

interface FaultAnswer {
  status: number;
  body: FaultBody;
  headers: Record<string, string>;
  /** Nobody foresaw it: it belongs into the log. */
  unforeseen: boolean;
}

export function faultOf(error: unknown, errorId: string): FaultAnswer {
  const known =
    isOrbError(error, "input_invalid") && error.fields.length > 0 ? badRequest(inItsWords(error.fields)) : error;
  if (known instanceof FirecrawlFault) {
    const { status, message, code, details } = known;
    const body = { success: false, error: message, ...(code === undefined ? {} : { code }) } as const;
    return { status, body: details === undefined ? body : { ...body, details }, headers: {}, unforeseen: false };
  }
  const { problem, headers, unforeseen } = answerTo(known, errorId);
  const { status, code, detail, hint, errors } = problem;
  return {
    status: STATUSES[status] ?? status,
    body: {
      success: false,
      error: hint === undefined ? detail : `${detail}. ${hint}`,
      code: CODES[code] ?? code.toUpperCase(),
      ...(errors === undefined ? {} : { details: errors }),
    },
    headers,
    unforeseen,
  };
}

/** Our names of what was given under another one. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^target_url$/, "url"],
  [/^url\[/, "urls["],
  [/^include\[/, "includePaths["],
  [/^exclude\[/, "excludePaths["],
  [/^include_domains\[/, "includeDomains["],
  [/^exclude_domains\[/, "excludeDomains["],
  [/^max_pages$/, "limit"],
  [/^max_depth$/, "maxDiscoveryDepth"],
  [/^delay_seconds$/, "delay"],
  [/^document\.include_tags/, "includeTags"],
  [/^document\.exclude_tags/, "excludeTags"],
  [/^document\.formats/, "formats"],
  [/^browser\.actions/, "actions"],
  [/^browser\.wait_ms/, "waitFor"],
  [/^extract\.llm/, "formats.json"],
  [/^fields\.\w+/, "formats.json.schema"],
];

function inItsWords(fields: readonly FieldError[]): FieldError[] {
  return fields.map(({ path, message }) => {
    const found = NAMES.find(([pattern]) => pattern.test(path));
    return { path: found === undefined ? path : path.replace(found[0], found[1]), message };
  });
}
