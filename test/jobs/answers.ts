/** Holds every answer of the API to what `/openapi.json` says about it. */
import assert from "node:assert/strict";
import { Agent, request } from "undici";
import { createClient, type Fetch, type OrbweaverClient } from "../../src/api-client/client.ts";
import { type Description, mediaType, type Operation, operationsOf } from "../api/fuzz/operations.ts";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  json<T = unknown>(): T;
}

/** All servers that a file of tests starts describe themselves alike, and take a while to do so: the first one is asked. */
let description: Description | null = null;

async function describe(url: string): Promise<Description> {
  const answer = await request(`${url}/openapi.json`);
  return (await answer.body.json()) as Description;
}

/** The operations that were called so far, by method and template: reading all of them takes longer than starting a server. */
const read = new Map<string, Operation>();

function operationFor(description: Description, method: string, path: string): Operation | undefined {
  const parts = (path.split("?")[0] ?? "").split("/");
  const templates = Object.keys(description.paths).filter((template) => {
    const words = template.split("/");
    const fits = words.every((word, index) => word === parts[index] || (word.startsWith("{") && parts[index] !== ""));
    return words.length === parts.length && fits && description.paths[template]?.[method] !== undefined;
  });
  // A path of fixed words is meant before one with parameters.
  const [template] = templates.toSorted((a, b) => a.split("{").length - b.split("{").length);
  if (template === undefined) return undefined;
  const key = `${method} ${template}`;
  if (!read.has(key)) {
    const raw = description.paths[template]![method]!;
    for (const operation of operationsOf({ ...description, paths: { [template]: { [method]: raw } } }))
      read.set(key, operation);
  }
  return read.get(key);
}

/** The public face of a running server, and nothing else. */
export class CheckedApi {
  readonly url: string;
  readonly #agent = new Agent({ connections: 64, pipelining: 1 });
  readonly #description: Description;
  /** Everything that was answered, for who looks for what must not be there. */
  readonly answered: string[] = [];
  /** Whatever it is answered is held to the description, too. */
  readonly client: OrbweaverClient;

  private constructor(url: string, description: Description) {
    this.url = url;
    this.#description = description;
    this.client = createClient({ url, retries: 0, fetch: this.#fetch });
  }

  readonly #fetch: Fetch = async (url, { method, headers, body, signal }) => {
    const path = url.slice(this.url.length);
    const isStream = path.split("?")[0]?.endsWith("/stream") === true;
    if (!isStream) return asFetched(await this.#send(method, path, { headers, body: body ?? null, signal }));
    const answer = await request(url, { method: method as "GET", headers, dispatcher: this.#agent, signal });
    const told = this.answered;
    const chunks = async function* () {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        told.push(Buffer.from(chunk).toString("utf8"));
        yield chunk;
      }
    };
    return { status: answer.statusCode, headers: headersOf(answer.headers), body: chunks() };
  };

  static async open(url: string): Promise<CheckedApi> {
    return new CheckedApi(url, (description ??= await describe(url)));
  }

  get agent(): Agent {
    return this.#agent;
  }

  get(path: string): Promise<Answer> {
    return this.call("GET", path);
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call("POST", path, body, headers);
  }

  async call(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.#send(method, path, {
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      // Bytes are sent as they are.
      body: body === undefined ? null : Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
  }

  async #send(
    method: string,
    path: string,
    call: { headers: Record<string, string>; body: string | Buffer | null; signal?: AbortSignal },
  ): Promise<Answer> {
    const answer = await request(this.url + path, { method: method as "GET", ...call, dispatcher: this.#agent });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const text = bytes.toString("utf8");
    this.answered.push(JSON.stringify(answer.headers), text);
    const found: Answer = {
      status: answer.statusCode,
      headers: answer.headers,
      bytes,
      text,
      json: <T>() => JSON.parse(text) as T,
    };
    this.#check(method, path, found);
    return found;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #check(method: string, path: string, { status, headers, text, bytes }: Answer): void {
    const operation = operationFor(this.#description, method.toLowerCase(), path);
    assert.ok(operation !== undefined, `${method} ${path} is described`);
    const story = `${method} ${path} answered ${status}: ${text.slice(0, 600)}`;
    const kinds = operation.answers.get(status);
    assert.ok(kinds !== undefined, `this status is not described. ${story}`);
    if (kinds === null) return assert.equal(bytes.length, 0, story);
    const type = mediaType(String(headers["content-type"] ?? ""));
    const check = kinds.get(type) ?? kinds.get("*/*");
    if (check === undefined && bytes.length === 0) return;
    assert.ok(check !== undefined, `the type ${type} is not described. ${story}`);
    const isJson = type === "application/json" || type === "application/problem+json";
    const value: unknown = isJson && kinds.has(type) ? JSON.parse(text) : text;
    assert.ok(check(value), `${story} does not match: ${JSON.stringify(check.errors)}`);
  }
}

function headersOf(headers: Answer["headers"]): { get(name: string): string | null } {
  return { get: (name) => [headers[name] ?? []].flat().join(", ") || null };
}

function asFetched({ status, headers, bytes }: Answer): Awaited<ReturnType<Fetch>> {
  const body = async function* () {
    yield bytes;
  };
  return { status, headers: headersOf(headers), body: body() };
}
