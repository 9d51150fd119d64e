import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { promises as dns } from "node:dns";
import { join } from "node:path";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { Client } from "undici";
import { openClient } from "../../src/app/context.ts";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { startServer } from "../../src/app/server.ts";
import { tempDir } from "../support/temp-dir.ts";
import {
  type Description,
  fits,
  type FuzzRequest,
  kindOf,
  mediaType,
  type Operation,
  operationsOf,
  requestsFor,
} from "./fuzz/operations.ts";
import { FULL } from "../support/gate.ts";
import { testSeed } from "../support/seed.ts";

// A failing seed is repeated with: ORB_TEST_SEED=N npm test -- api/fuzz
const REQUESTS = FULL ? 5000 : 900;
const SEED = testSeed();
const PASSES = 2;
const TOKEN = "the-token-of-the-fuzzed-server";

interface Answer {
  status: number;
  type: string;
  text: string | null;
}

/** Ids that answers have named, by kind: with them calls get beyond "not found". */
class KnownIds {
  readonly #byKind = new Map<string, string[]>([
    ["items", ["seeded"]],
    ["sites", ["seeded.invalid"]],
    ["templates", ["seeded", "article-dataset"]],
  ]);

  collect(kind: string, text: string): void {
    const ids = this.#byKind.get(kind) ?? [];
    for (const [, id = ""] of text.matchAll(/"id":"([0-9a-f-]{36})"/g))
      if (ids.length < 100 && !ids.includes(id)) ids.push(id);
    this.#byKind.set(kind, ids);
  }

  fill(path: string): string {
    return path.replaceAll(/\{known:([^:]*):(\d+)\}/g, (_, kind: string, index: string) => {
      const ids = this.#byKind.get(kind) ?? [];
      return ids[Number(index) % ids.length] ?? "unknown";
    });
  }
}

/** Shows a request so that it can be read in a failure. */
function shown({ method, path, headers, body }: FuzzRequest): string {
  const text = body === null ? "" : Buffer.isBuffer(body) ? `hex ${body.toString("hex")}` : body;
  return `${method} ${path.slice(0, 300)}\n${JSON.stringify(headers).slice(0, 500)}\n${text.slice(0, 1000)}`;
}

async function send(client: Client, request: FuzzRequest): Promise<Answer> {
  const { statusCode, headers, body } = await client.request({ ...request, method: request.method as "GET" });
  const type = mediaType(String(headers["content-type"] ?? ""));
  if (type === "text/event-stream") {
    // It has no end; that it began is all there is to see here.
    body.on("error", () => {}).destroy();
    return { status: statusCode, type, text: null };
  }
  return { status: statusCode, type, text: await body.text() };
}

/** Everything that is promised about an answer. */
function check(operation: Operation, request: FuzzRequest, { status, type, text }: Answer): void {
  // The fault of a site that was asked is none of ours, where that is documented.
  const blamesOthers = (status === 502 || status === 504) && operation.answers.has(status);
  assert.ok(status < 500 || blamesOthers, `answered ${status}: ${text}`);
  if (status >= 400 && request.method !== "HEAD") {
    assert.equal(type, "application/problem+json", `an error is a problem: ${text}`);
    const problem = JSON.parse(text ?? "") as { status: number; code: string; detail: string };
    assert.equal(problem.status, status);
    assert.ok(problem.code !== "internal");
  }
  assert.ok(!/node_modules|\.ts:\d+|at async /.test(text ?? ""), `the answer shows how the program is made: ${text}`);
  // Another method, or a path that is another one: the frame or another operation answers.
  if (request.method !== operation.method || !fits(operation, request.path)) return;
  if (status === 431) return;
  const promised = operation.answers.get(status);
  assert.ok(promised !== undefined, `${status} is not documented for ${operation.name}: ${text}`);
  if (promised === null) {
    assert.equal(text, "", `${status} promises no body`);
    return;
  }
  const validate = promised.get(type) ?? promised.get("*/*");
  assert.ok(validate !== undefined, `${type} is not documented for ${status} of ${operation.name}`);
  if (text === null) return;
  const value: unknown = /[/+]json$/.test(type) ? JSON.parse(text) : text;
  assert.ok(
    validate(value),
    `${status} of ${operation.name} is not as documented: ${JSON.stringify(validate.errors)}\n${text}`,
  );
}

/** Each operation has chances of its own: with one seed for all of them all would draw alike. */
function seedFor(name: string, pass: number): number {
  return createHash("sha256").update(`${SEED} ${name} ${pass}`).digest().readInt32LE();
}

/** The smallest request that fails, and what is wrong with its answer. */
function describeFailure(error: unknown, shrinks: number): string {
  const { message, cause } = error as Error;
  return `${message}\n${cause instanceof Error ? cause.message.slice(0, 2000) : String(cause)}\n(after ${shrinks} simplifications)`;
}

test(`${REQUESTS} right and wrong requests, made from the description, get the answers it promises`, async (t) => {
  using dir = tempDir();
  const env = {
    APP_PORT: "0",
    APP_API_TOKEN: TOKEN,
    APP_MAX_PER_RESOLVER: '{"seeded":3}',
    APP_HTTP_TIMEOUT_SECONDS: "1",
    // A call that wants a browser is told that there is none.
    APP_BROWSER_PATH: join(dir.path, "no-browser"),
  };
  const { config } = loadConfig({ env, cwd: dir.path });
  const lines: string[] = [];
  const log = createLog({ level: "warn", pretty: false, write: (line) => void lines.push(line) });
  // No name server is asked, either.
  t.mock.method(dns, "lookup", async (name: string) => {
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
  });
  // Nothing works on what is sent, and private networks are closed: no request of the fuzzer leads to another.
  await using server = await startServer(config, log, { version: "0", worker: false });
  const client = new Client(server.url, { pipelining: 1 });
  t.after(() => client.destroy());
  const authorization = `Bearer ${TOKEN}`;
  const get = async (path: string) =>
    (await send(client, { method: "GET", path, headers: { authorization }, body: null })).text ?? "";
  const seeding = { "content-type": "application/json", authorization };
  const seeds = ["seeded", "b", "c/d", "ü"].map((name) => ({
    artifact_id: name,
    url: `http://seeded.invalid/${encodeURIComponent(name)}`,
  }));
  const seed = (method: string, path: string, body: unknown) =>
    send(client, { method, path, headers: seeding, body: JSON.stringify(body) });
  await seed("POST", "/queue/items", { items: seeds });
  const definition = { name: "seeded", steps: [{ name: "rest", task_type: "wait", params: { seconds: 1 } }] };
  await seed("PUT", "/workflows/templates/seeded", { definition });
  for (const start of [true, false]) await seed("POST", "/workflows", { template: "seeded", start });

  const operations = operationsOf(JSON.parse(await get("/openapi.json")) as Description);
  assert.ok(operations.length >= 20);
  const known = new KnownIds();
  for (const kind of ["workflows", "runs"]) known.collect(kind, await get(`/${kind}`));
  const reached = new Map<string, number>();
  const failures: string[] = [];
  const succeeded = new Set<string>();
  let sent = 0;
  const each = Math.ceil(REQUESTS / operations.length / PASSES);
  // In the second pass there are things to work with that the first one made.
  for (const [pass, operation] of Array.from({ length: PASSES }, () => operations).flatMap((all, pass) =>
    all.map((operation) => [pass, operation] as const),
  )) {
    const property = fc.asyncProperty(requestsFor(operation, TOKEN), async (generated) => {
      const request = { ...generated, path: known.fill(generated.path) };
      let answer: Answer | null = null;
      try {
        answer = await send(client, request);
        sent += 1;
        check(operation, request, answer);
      } catch (error) {
        const got = answer === null ? "" : `\n→ ${answer.status} ${answer.type}`;
        throw new Error(`${operation.name}, seed ${SEED}:\n${shown(request)}${got}`, { cause: error });
      }
      known.collect(kindOf(operation.template), answer.text ?? "");
      if (answer.status < 300) succeeded.add(operation.name);
      const key = `${answer.status}`;
      reached.set(key, (reached.get(key) ?? 0) + 1);
    });
    const run = await fc.check(property, { numRuns: each, seed: seedFor(operation.name, pass) });
    if (run.failed) failures.push(describeFailure(run.errorInstance, run.numShrinks));
  }
  const statuses = [...reached].toSorted().map(([status, count]) => `${status}: ${count}`);
  process.stderr.write(
    `  fuzz: seed ${SEED}, ${sent} requests to ${operations.length} operations; ${statuses.join(", ")}\n`,
  );
  const never = operations.filter(({ name }) => !succeeded.has(name)).map(({ name }) => name);
  if (never.length > 0) process.stderr.write(`  fuzz: never answered with a success: ${never.join(", ")}\n`);
  assert.ok(failures.length === 0, `${failures.length} operations fail:\n\n${failures.join("\n\n")}`);
  assert.ok(sent >= REQUESTS);
  for (const status of ["200", "201", "204", "400", "401", "404", "405", "415", "422"])
    assert.ok(reached.has(status), `no request was answered ${status}: the fuzzer does not get everywhere`);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  assert.deepEqual(
    lines.filter((line) => line.includes('"level":"error"')),
    [],
    "nothing unforeseen happened",
  );
  assert.match(await get("/health"), /"ok"/);
  await using after = await openClient(config);
  assert.deepEqual((await after.store.audit()).findings, []);
});
