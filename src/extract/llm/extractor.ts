/** Extracts a page with a model: one call, and one repair call when the answer violates the schema. */
import type { Random } from "../../base/random.ts";
import type { ExtractStats, LlmRequest } from "../../domain/page/extract-request.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { Recent } from "../../domain/lane/recent.ts";
import { compileSchema, type RecordCheck } from "../schema.ts";
import { readAnswer } from "./answer.ts";
import type { Completion, EndpointError } from "./completion.ts";
import { BadRequest, type LlmEndpoint } from "./endpoint.ts";
import { answerSchema, type Message, messagesFor, type PageForModel, repairMessages } from "./prompt.ts";

export interface PageSource extends PageForModel {
  /** The page was truncated. */
  cut: boolean;
}

type Mode = NonNullable<ExtractStats["mode"]>;

/** The request form that an endpoint accepts; rejected options are dropped from then on. */
interface Form {
  mode: Mode;
  tokens: "max_tokens" | "max_completion_tokens";
  temperature: boolean;
}

const DEFAULT_FORM: Form = { mode: "json_schema", tokens: "max_tokens", temperature: true };
const NEXT_MODE: Readonly<Record<Mode, Mode | null>> = {
  json_schema: "json_object",
  json_object: "plain",
  plain: null,
};
/** Enough to change every part of the form once. */
const MAX_FORMS = 5;
const CACHE_SIZE = 100;

export class LlmExtractor {
  readonly #endpoint: LlmEndpoint;
  readonly #random: Random;
  /** By schema: an endpoint may accept a form for one schema and reject it for another. */
  readonly #forms = new Recent<Form>(CACHE_SIZE);
  readonly #checks = new Recent<RecordCheck>(CACHE_SIZE);

  constructor(endpoint: LlmEndpoint, random: Random) {
    this.#endpoint = endpoint;
    this.#random = random;
  }

  get endpoint(): LlmEndpoint {
    return this.#endpoint;
  }

  /**
   * Returns the records. Writes its usage into `stats`, also on failure. Throws a FetchFailure with code `extraction`;
   * rethrows the abort reason of the signal.
   */
  async extract(
    request: LlmRequest,
    source: PageSource,
    stats: ExtractStats,
    signal: AbortSignal,
  ): Promise<Record<string, JsonValue>[]> {
    const maxChars = this.#endpoint.maxInputChars;
    const page = { ...source, markdown: source.markdown.slice(0, maxChars) };
    if (page.markdown.trim() === "") throw new FetchFailure("extraction_failed", "the page has no text for the model");
    const schema = answerSchema(request);
    const key = JSON.stringify(schema);
    Object.assign(stats, {
      model: this.#endpoint.model,
      mode: DEFAULT_FORM.mode,
      calls: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      input_chars: page.markdown.length,
      input_cut: page.cut || source.markdown.length > maxChars,
      repaired: false,
    } satisfies Partial<ExtractStats>);
    const ask = (messages: readonly Message[]) => this.#ask({ schema, key }, messages, stats, signal);
    const first = messagesFor(request, page, this.#random.uuid());
    let content = await ask(first);
    let read = readAnswer(content, request, this.#check(request));
    if ("wrong" in read) {
      content = await ask(repairMessages(first, content, read.wrong));
      stats.repaired = true;
      read = readAnswer(content, request, this.#check(request));
    }
    if ("wrong" in read) {
      const message = `the model's response is invalid, also after one correction: ${read.wrong.join("; ")}`;
      throw new FetchFailure("llm_bad_answer", message);
    }
    return read.records;
  }

  #check({ schema = null }: LlmRequest): RecordCheck | null {
    if (schema === null) return null;
    const key = JSON.stringify(schema);
    const check = this.#checks.get(key) ?? compileSchema(schema);
    this.#checks.set(key, check);
    return check;
  }

  async #ask(
    { schema, key }: { schema: JsonValue; key: string },
    messages: readonly Message[],
    stats: ExtractStats,
    signal: AbortSignal,
  ): Promise<string> {
    let form = this.#forms.get(key) ?? DEFAULT_FORM;
    for (let tries = 1; ; tries += 1) {
      stats.mode = form.mode;
      stats.calls = (stats.calls ?? 0) + 1;
      try {
        const completion = await this.#endpoint.ask(this.#body(form, schema, messages), signal);
        this.#forms.set(key, form);
        stats.prompt_tokens = (stats.prompt_tokens ?? 0) + completion.promptTokens;
        stats.completion_tokens = (stats.completion_tokens ?? 0) + completion.completionTokens;
        return this.#contentOf(completion);
      } catch (error) {
        const other = error instanceof BadRequest && tries < MAX_FORMS ? nextForm(form, error.details) : null;
        if (other === null) throw error;
        form = other;
      }
    }
  }

  #body({ mode, tokens, temperature }: Form, schema: JsonValue, messages: readonly Message[]) {
    const { model, maxTokens } = this.#endpoint;
    return {
      model,
      messages,
      [tokens]: maxTokens,
      stream: false,
      ...(temperature ? { temperature: 0 } : {}),
      ...(mode === "json_schema"
        ? { response_format: { type: "json_schema", json_schema: { name: "page", schema, strict: false } } }
        : {}),
      ...(mode === "json_object" ? { response_format: { type: "json_object" } } : {}),
    };
  }

  #contentOf({ content, cut, refusal }: Completion): string {
    if (cut === "length")
      throw new FetchFailure(
        "llm_bad_answer",
        `the model's answer was cut off after ${this.#endpoint.maxTokens} tokens: raise APP_LLM_MAX_TOKENS, or extract less`,
      );
    if (cut === "content_filter")
      throw new FetchFailure("llm_bad_answer", "the content filter of the endpoint blocked the response");
    if (refusal !== null && content === "")
      throw new FetchFailure("llm_bad_answer", `the model refused to answer: ${refusal.slice(0, 200)}`);
    return content;
  }
}

/** The next form to try after this error; null: the request itself is at fault. */
function nextForm(form: Form, { message, code, param }: EndpointError): Form | null {
  const details = `${param} ${code} ${message}`.toLowerCase();
  if (/context[_ ](?:length|window|size)|maximum context|too many tokens|too long/.test(details)) return null;
  if (form.temperature && details.includes("temperature")) return { ...form, temperature: false };
  if (form.tokens === "max_tokens" && /max_tokens|max_completion_tokens/.test(details))
    return { ...form, tokens: "max_completion_tokens" };
  const mode = NEXT_MODE[form.mode];
  return mode === null ? null : { ...form, mode };
}
