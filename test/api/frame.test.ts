import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nestingOf } from "../../src/api/body.ts";
import { HTTP_PROBLEMS, type Problem, statusOf } from "../../src/api/problems.ts";
import type { Routes } from "../../src/api/routes/registry.ts";
import { ERROR_CATALOGUE, type ErrorCode, OrbError } from "../../src/base/errors.ts";
import { FetchFailure } from "../../src/domain/run/failure.ts";
import { read, tableBelow } from "../support/source.ts";
import { type Answer, openTestApi } from "./kit.ts";
import { Type } from "../../src/api/type.ts";

/** The problem an answer is; that it is one is checked. */
function problemIn(answer: Answer, status: number, code: string): Problem {
  assert.equal(answer.status, status, answer.text);
  assert.match(String(answer.headers["content-type"]), /^application\/problem\+json/);
  const problem = answer.json<Problem>();
  assert.equal(problem.status, status);
  assert.equal(problem.code, code);
  assert.equal(problem.type, `urn:orbweaver:problem:${code}`);
  assert.ok(problem.title !== "" && problem.detail !== "");
  return problem;
}

describe("whoever looks after the server", () => {
  test("sees that it is up", async (t) => {
    const served = await openTestApi(t);
    const answer = await served.get("/health");
    assert.equal(answer.status, 200);
    const { uptime_seconds: uptime, ...rest } = answer.json<Record<string, unknown>>();
    assert.deepEqual(rest, { status: "ok", version: "1.2.3", database: "sqlite", engine: "embedded" });
    assert.ok(Number.isInteger(uptime) && (uptime as number) >= 0, String(uptime));
  });

  test("sees what it needs and how fast that answers", async (t) => {
    const served = await openTestApi(t);
    const { status, checks } = (await served.get("/ready")).json<{
      status: string;
      checks: { name: string; status: string; latency_ms: number }[];
    }>();
    assert.equal(status, "ready");
    assert.deepEqual(
      checks.map((check) => [check.name, check.status, typeof check.latency_ms]),
      [["database", "ok", "number"]],
    );
  });

  test("sees which part cannot be used, but nothing that an unforeseen error says", async (t) => {
    const served = await openTestApi(t, {
      probes: {
        database: async () => {
          throw new OrbError("disk_full", "the database cannot grow: the disk is full");
        },
        disk: async () => {
          throw new Error("EIO: /secret/place");
        },
        stuck: () => new Promise(() => {}),
        fine: async () => {},
      },
      probeMs: 20,
    });
    const answer = await served.get("/ready");
    const problem = problemIn(answer, 503, "unready") as Problem & { checks: { name: string; message?: string }[] };
    assert.deepEqual(
      problem.checks.map((check) => [check.name, check.message ?? "ok"]),
      [
        ["database", "the database cannot grow: the disk is full"],
        ["disk", "cannot be used; see the log"],
        ["stuck", "no answer within 0.02 s"],
        ["fine", "ok"],
      ],
    );
    assert.ok(!answer.text.includes("/secret/place"));
    assert.ok(served.log.some((line) => line.includes("/secret/place")));
    assert.equal(answer.headers["retry-after"], "10");
  });

  test("reads requests by route and status, and what the rest of the program counts, in numbers of its own", async (t) => {
    const metrics = [
      { name: "orb_things", help: "Things.", value: 3, labels: { kind: 'a "b"\n' } },
      { name: "orb_things", help: "Things.", value: 4, labels: { kind: "c" } },
    ];
    const served = await openTestApi(t, { metrics });
    const other = await openTestApi(t);
    await served.get("/queue/items/nothing");
    const { headers, text } = await served.get("/metrics");
    assert.match(String(headers["content-type"]), /^text\/plain; version=0\.0\.4/);
    assert.match(text, /duration_seconds_count\{method="GET",route="\/queue\/items\/:id",status="404"\} 1\n/);
    assert.match(text, /orb_things\{kind="a \\"b\\"\\n"\} 3\n/);
    assert.match(text, /orb_things\{kind="c"\} 4\n/);
    const elsewhere = (await other.get("/metrics")).text;
    assert.ok(!elsewhere.includes("/queue/items") && !elsewhere.includes("orb_things"));
    assert.match((await served.get("/metrics")).text, /orb_things\{kind="c"\} 4\n/);
  });
});

describe("whoever reads the description", () => {
  test("finds every route with its answers, problems included", async (t) => {
    const served = await openTestApi(t);
    const description = (await served.get("/openapi.json")).json<{
      openapi: string;
      paths: Record<
        string,
        Record<string, { operationId?: string; summary?: string; responses: Record<string, object> }>
      >;
      components: { schemas: Record<string, object> };
    }>();
    assert.equal(description.openapi, "3.1.0");
    assert.ok("Problem" in description.components.schemas);
    const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
    );
    assert.ok(operations.length >= 20);
    for (const { name, operationId, summary, responses } of operations) {
      assert.ok(operationId !== undefined && summary !== undefined, `${name} has a name and a summary`);
      const statuses = Object.keys(responses);
      assert.ok(
        statuses.some((status) => status.startsWith("2")),
        `${name} says what it answers`,
      );
      for (const status of ["400", "414", "421", "500", "503"])
        assert.ok(statuses.includes(status), `${name}: ${status}`);
    }
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length, "names are unique");
  });

  test("gets the interactive reference from this server alone, without inline scripts", async (t) => {
    const served = await openTestApi(t);
    const page = await served.get("/docs");
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    const policy = String(page.headers["content-security-policy"]);
    assert.match(policy, /script-src 'self';/);
    assert.ok(!policy.includes("unsafe") && !policy.includes("http"));
    const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    assert.ok(addresses.length >= 4);
    for (const address of addresses) {
      assert.match(address, /^\/docs\/static\//);
      assert.equal((await served.get(address)).status, 200, address);
    }
    assert.ok(!/<script>|<style/.test(page.text));
  });
});

describe("a call that cannot be served", () => {
  test("says that the address is unknown, or which methods it knows", async (t) => {
    const served = await openTestApi(t);
    problemIn(await served.get("/nowhere"), 404, "route_not_found");
    const wrong = await served.send("DELETE", "/queue/items/x");
    problemIn(wrong, 405, "method_not_allowed");
    assert.equal(wrong.headers["allow"], "GET, HEAD");
    assert.equal(wrong.json<Problem>().detail, "this route supports GET, HEAD");
    const guessed = problemIn(await served.send("POST", "/scraping/tasks", {}), 405, "method_not_allowed");
    assert.match(guessed.detail, /^this route supports GET, HEAD; did you mean .*POST \/scraping\/async-scrape/);
    const above = problemIn(await served.send("POST", "/queue/items/x", {}), 405, "method_not_allowed");
    assert.match(above.detail, /did you mean POST \/queue\/items( or |\?$)/);
    assert.equal((await served.call({ method: "OPTIONS", path: "/queue/items" })).headers["allow"], "GET, HEAD, POST");
    assert.equal((await served.call({ method: "HEAD", path: "/health" })).status, 200);
  });

  test("may end with a slash, with a query behind it, too", async (t) => {
    const served = await openTestApi(t);
    for (const path of ["/jobs", "/runs", "/workflows", "/sites", "/queue/items", "/schedules"]) {
      const [plain, slashed] = [await served.get(`${path}?limit=5`), await served.get(`${path}/?limit=5`)];
      assert.equal(slashed.status, 200, `${path}/: ${slashed.text}`);
      assert.equal(slashed.text, plain.text);
    }
    assert.equal((await served.get("/nowhere/")).status, 404);
  });

  test("says that the body is not JSON, not UTF-8, too deep, too large or of another kind", async (t) => {
    const served = await openTestApi(t);
    const send = (body: string | Buffer, type = "application/json") =>
      served.send("POST", "/queue/items", body, { "content-type": type });
    problemIn(await send('{"artifact_id": '), 400, "body_malformed");
    problemIn(await send(Buffer.from([0x22, 0xff, 0x22])), 400, "body_malformed");
    problemIn(await send(`${"[".repeat(101)}${"]".repeat(101)}`), 400, "body_malformed");
    problemIn(await send(`"${"x".repeat(1024 * 1024)}"`), 413, "body_too_large");
    problemIn(await send("a=b", "application/x-www-form-urlencoded"), 415, "media_type_unsupported");
    problemIn(await send("{}", "text/plain"), 415, "media_type_unsupported");
    problemIn(await send("{}", "application/json; charset=latin1"), 415, "media_type_unsupported");
    const secret = await send('{"token": hunter2}');
    assert.ok(!problemIn(secret, 400, "body_malformed").detail.includes("hunter2"), "the body is not repeated");
  });

  test("may have 16 MiB where it brings a workflow, and 1 MiB elsewhere [slow]", async (t) => {
    const served = await openTestApi(t);
    // Within the process: over a connection the answer may come while the body is still being written.
    const send = async (method: "POST" | "PUT" | "PATCH", url: string, bytes: number) => {
      const headers = { "content-type": "application/json" };
      const { statusCode, body } = await served.api.inject({ method, url, headers, payload: `"${"x".repeat(bytes)}"` });
      return [statusCode, JSON.parse(body).detail];
    };
    const most = 16 * 1024 * 1024;
    for (const [method, path] of [
      ["POST", "/workflows"],
      ["POST", "/workflows/validate"],
      ["PUT", "/workflows/templates/mine"],
      ["POST", `/workflows/${crypto.randomUUID()}/rerun`],
    ] as const) {
      assert.equal((await send(method, path, most - 2))[0], 422, path);
      assert.deepEqual(await send(method, path, most - 1), [413, "the body is larger than 16 MiB"], path);
    }
    const small = [413, "the body is larger than 1 MiB"];
    for (const path of ["/queue/items", "/jobs"]) assert.deepEqual(await send("POST", path, 1024 * 1024), small);
    assert.deepEqual(await send("PATCH", `/workflows/${crypto.randomUUID()}`, 1024 * 1024), small);
  });

  test("cannot smuggle in a prototype", async (t) => {
    const served = await openTestApi(t);
    for (const body of [
      '{"__proto__": {"admin": true}}',
      '{"items": [{"\\u005f_proto__": 1}]}',
      '{"constructor": {"prototype": {"x": 1}}}',
    ])
      problemIn(await served.send("POST", "/queue/items", body), 400, "body_malformed");
    assert.equal(({} as { admin?: boolean }).admin, undefined);
  });

  test("is told each field that is wrong, with its path and what was meant", async (t) => {
    const served = await openTestApi(t);
    const items = [
      { artifact_id: "a", url: "http://a.test/" },
      { artifact_id: 1, priorty: 2 },
    ];
    const { errors } = problemIn(await served.send("POST", "/queue/items", { items }), 422, "input_invalid");
    assert.deepEqual(
      new Map(errors?.map(({ path, message }) => [path, message])),
      new Map([
        ["items[1].url", "is required"],
        ["items[1].priorty", 'unknown key, did you mean "priority"?'],
        ["items[1].artifact_id", "expected string, got number"],
      ]),
    );
    const one = await served.send("PATCH", "/sites/a.test", { burst: "3", paused: 1, extra: null });
    assert.deepEqual(
      problemIn(one, 422, "input_invalid")
        .errors?.map(({ path, message }) => `${path}: ${message}`)
        .toSorted(),
      ["burst: expected integer or null, got string", "extra: unknown key", "paused: expected boolean, got number"],
    );
    const query = await served.get("/queue/items?limit=0&status=nope&color=red&limit=2");
    const paths = problemIn(query, 422, "input_invalid")
      .errors?.map(({ path }) => path)
      .toSorted();
    assert.deepEqual(paths, ["query.color", "query.limit", "query.status"]);
  });

  test("is told of what breaks the schema and of what breaks a rule in one answer, each once", async (t) => {
    const served = await openTestApi(t);
    const wrong = async (path: string, body: object) =>
      problemIn(await served.send("POST", path, body), 422, "input_invalid")
        .errors?.map((one) => one.path)
        .toSorted();
    const rules = { include: ["re:("], headers: { host: "x" } };
    assert.deepEqual(await wrong("/scraping/async-scrape", { max_depth: "2", colour: 1, ...rules }), [
      "colour",
      "headers.host",
      "include[0]",
      "max_depth",
      "url",
    ]);
    const page = { strategy: "api_replay", schedule: "61 * * * *", max_attempts: 0 };
    assert.deepEqual(await wrong("/jobs", page), ["max_attempts", "replay", "schedule", "target_url"]);
    assert.deepEqual(await wrong("/jobs", { ...page, kind: "pge" }), ["kind", "max_attempts"]);
    const saved = { kind: "crawl", target_url: "https://a.test/", fields: ["title"], tags: [1] };
    assert.deepEqual(await wrong("/jobs", saved), ["fields", "tags[0]"]);
    assert.deepEqual(await wrong("/runs", { target_url: 1, headers: { host: "x" } }), ["headers.host", "target_url"]);
  });

  test("is answered briefly, however many mistakes it makes", async (t) => {
    const served = await openTestApi(t);
    const answer = await served.send("POST", "/queue/items", { items: Array.from({ length: 200_000 }, () => 1) });
    problemIn(answer, 422, "input_invalid");
    assert.ok(answer.text.length < 10_000, `${answer.text.length} characters`);
    const keys = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`key${index}`, 1]));
    const many = problemIn(await served.send("PATCH", "/sites/a.test", keys), 422, "input_invalid");
    assert.ok((many.errors?.length ?? 0) <= 50 && many.detail.length < 1000);
  });

  test("is refused when its body was not meant for it", async (t) => {
    const served = await openTestApi(t);
    const { errors } = problemIn(
      await served.send("POST", "/sites/a.test/pause", { until: "noon" }),
      422,
      "input_invalid",
    );
    assert.deepEqual(errors, [{ path: "until", message: "this call accepts no body" }]);
    assert.equal((await served.send("POST", "/sites/a.test/pause", {})).status, 200);
    assert.equal((await served.send("POST", "/sites/a.test/pause", "")).status, 200, "an empty one is none");
  });

  test("has a bad or an endless address", async (t) => {
    const served = await openTestApi(t);
    problemIn(await served.get("/queue/items/%zz"), 400, "url_malformed");
    problemIn(await served.get("/queue/items/%c0%af"), 400, "url_malformed");
    problemIn(await served.get(`/queue/items?cursor=${"x".repeat(9000)}`), 414, "url_too_long");
    const headers = { "x-long": "x".repeat(20_000) };
    problemIn(await served.get("/health", headers), 431, "headers_too_large");
  });

  test("always has the security headers, and is never kept by a cache", async (t) => {
    const served = await openTestApi(t);
    for (const path of ["/health", "/nowhere", "/queue/items/%zz", "/docs"]) {
      const { headers } = await served.get(path);
      assert.match(String(headers["content-security-policy"]), /default-src 'none';.*frame-ancestors 'none'/);
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["cross-origin-resource-policy"], "same-origin");
      assert.equal(headers["cache-control"], "no-store");
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
  });
});

describe("an error of the product", () => {
  const thrown = new Map<string, unknown>([
    ["bug", new Error("password=hunter2 at /srv/orb/secret.ts")],
    ["text", "just a text"],
    ["private", new FetchFailure("private_address", "the address is not public")],
    ["fetch", new FetchFailure("timeout_total", "it took too long")],
    ...Object.keys(ERROR_CATALOGUE).map((code): [string, unknown] => [
      code,
      new OrbError(code as ErrorCode, "what happened", { hint: "what to do" }),
    ]),
  ]);
  const throwing: Routes = (api) => {
    api.get(
      "/throw/:what",
      { config: { role: "viewer" }, schema: { params: Type.Object({ what: Type.String() }) } },
      async (request) => {
        throw thrown.get(request.params.what);
      },
    );
  };

  test("that nobody foresaw is named by an id and found in the log, and tells nothing else", async (t) => {
    const served = await openTestApi(t, { routes: [throwing] });
    for (const what of ["bug", "text"]) {
      const answer = await served.get(`/throw/${what}`);
      const problem = problemIn(answer, 500, "internal");
      assert.ok(!/hunter2|secret|just a text|\.ts/.test(answer.text), answer.text);
      const id = problem.error_id ?? "missing";
      assert.ok(problem.detail.includes(id));
      assert.ok(
        served.log.some((line) => line.includes(id) && line.includes(what === "bug" ? "hunter2" : "just a text")),
      );
    }
  });

  test("has the status that its code stands for, and says when to come back", async (t) => {
    const served = await openTestApi(t, { routes: [throwing] });
    const expected: Partial<Record<ErrorCode, number>> = {
      input_invalid: 422,
      not_found: 404,
      illegal_transition: 409,
      idempotency_conflict: 422,
      disk_full: 507,
      database_busy: 503,
      database_unavailable: 503,
      engine_lost: 503,
    };
    for (const code of Object.keys(ERROR_CATALOGUE) as ErrorCode[]) {
      const answer = await served.get(`/throw/${code}`);
      const problem = problemIn(answer, expected[code] ?? statusOf(code), code);
      assert.deepEqual([problem.detail, problem.hint], ["what happened", "what to do"]);
      assert.notEqual(problem.status, 500, code);
    }
    assert.equal((await served.get("/throw/database_busy")).headers["retry-after"], "1");
    assert.equal(
      problemIn(await served.get("/throw/private"), 422, "forbidden_target").failure_reason,
      "private_address",
    );
    assert.equal(problemIn(await served.get("/throw/fetch"), 502, "fetch_failed").failure_code, "timeout");
    assert.ok(!served.log.some((line) => line.includes('"error"')), "what was foreseen is not an error of the server");
  });

  test("that belongs to HTTP itself is described in docs/api.md", () => {
    const rows = tableBelow(read("docs/api.md"), "## Errors").map(([code = "", status]) => [
      code.replaceAll("`", ""),
      status,
    ]);
    const codes = Object.entries(HTTP_PROBLEMS).map(([code, { status }]) => [code, String(status)]);
    assert.deepEqual(rows.toSorted(), codes.toSorted());
  });
});

test("nesting is counted outside of texts", () => {
  assert.equal(nestingOf('{"a": [[1], "[[[[", "\\"[", {}]}'), 3);
  assert.equal(nestingOf('"]]"'), 0);
});
