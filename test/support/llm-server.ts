import { MisbehavingSite, type Route, type Visit } from "./misbehaving-site.ts";

/** What the product asks of a model. */
export interface LlmCall {
  model: string;
  messages: { role: string; content: string }[];
  response_format?: { type: string; json_schema?: { name: string; schema: Record<string, unknown> } };
  max_tokens?: number;
  max_completion_tokens?: number;
  temperature?: number;
  stream?: boolean;
}

export type LlmRoute = (call: LlmCall, ...about: Parameters<Route>) => ReturnType<Route>;

export const LLM_KEY = "sk-a-key-that-nobody-may-see";

/**
 * A model behind the protocol of OpenAI: a real server, in a network that targets may not be in. What it answers is said by
 * the page that it is asked about, by the path of its address.
 */
export class LlmServer implements AsyncDisposable {
  readonly site: MisbehavingSite;
  readonly #routes = new Map<string, LlmRoute[]>();
  readonly #calls = new Map<string, LlmCall[]>();

  private constructor(site: MisbehavingSite) {
    this.site = site;
    site.on("/v1/chat/completions", (visit, response, here) => {
      const call = JSON.parse(visit.body) as LlmCall;
      const path = pathIn(call);
      const before = this.of(path);
      before.push(call);
      this.#calls.set(path, before);
      const routes = this.#routes.get(path) ?? [says({})];
      // The last one is for all that come after it.
      const route = routes[Math.min(before.length, routes.length) - 1]!;
      return route(call, visit, response, here);
    });
  }

  static async start(): Promise<LlmServer> {
    return new LlmServer(await MisbehavingSite.start({}, "127.0.0.3"));
  }

  get env(): Record<string, string> {
    return { APP_LLM_URL: this.site.url("/v1"), APP_LLM_KEY: LLM_KEY, APP_LLM_MODEL: "stand-in" };
  }

  /** What it does when it is asked about the page of this path: the first time, the second … */
  on(path: string, ...routes: LlmRoute[]): void {
    this.#routes.set(path, routes);
  }

  of(path: string): LlmCall[] {
    return this.#calls.get(path) ?? [];
  }

  /** Resolves when it has been asked about the page so often. */
  async asked(path: string, times = 1): Promise<void> {
    await this.site.when(() => this.of(path).length >= times, `the model is asked about ${path} ${times} times`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site[Symbol.asyncDispose]();
  }
}

function pathIn({ messages }: LlmCall): string {
  const url = /^URL: (\S+)$/m.exec(messages.find(({ role }) => role === "user")?.content ?? "")?.[1];
  return url === undefined ? "" : new URL(url).pathname;
}

/** A completion with this as its content. */
export function says(value: unknown, more: { finish?: string; refusal?: string } = {}): LlmRoute {
  const content = typeof value === "string" ? value : JSON.stringify(value);
  return (call, visit, response) => {
    if (visit.headers.authorization !== `Bearer ${LLM_KEY}`) return refuses(401)(call, visit, response, null as never);
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion",
        model: call.model,
        choices: [
          {
            index: 0,
            message: { role: "assistant", content, refusal: more.refusal ?? null },
            finish_reason: more.finish ?? "stop",
          },
        ],
        usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      }),
    );
  };
}

/** An error, told as such endpoints do. */
export function refuses(
  status: number,
  {
    headers = {},
    message = "no",
    code = null,
  }: { headers?: Record<string, string>; message?: string; code?: string | null } = {},
): LlmRoute {
  return (_call, _visit, response) => {
    const error = { message, type: "error", param: null, code };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ error }));
  };
}

/** Only those who ask for another kind of answer are answered. */
export function withoutFormats(kinds: readonly string[], then: LlmRoute): LlmRoute {
  return (call, ...about) =>
    kinds.includes(call.response_format?.type ?? "")
      ? refuses(400, { message: `response_format ${call.response_format?.type} is not supported` })(call, ...about)
      : then(call, ...about);
}

/** A body without end, as fast as it is taken. */
export const endless: LlmRoute = (_call, _visit, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"choices": [{"message": {"content": "');
  const chunk = "a".repeat(64 * 1024);
  const go = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once("drain", go);
  };
  go();
};

/** No answer at all. */
export const silent: LlmRoute = () => {};

export type { Visit };
