import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, sendTo, status } from "../support/misbehaviours.ts";
import { Installation } from "./installation.ts";

const links = (...paths: string[]) => html(paths.map((path) => `<a href="${path}">x</a>`).join(" "));

/** The value of a line of `orb runs show`. */
const lineOf = (text: string, name: string) => new RegExp(`^${name} {2,}(.*)$`, "m").exec(text)?.[1] ?? null;

describe("why something is not done, on the command line", () => {
  test("a crawl counts its pages, and a retry is offered only where one may help", async () => {
    await using installation = Installation.prepared();
    await using site = await MisbehavingSite.start({
      "/": links("/good", "/loop", "/gone", "/broken"),
      "/good": html("good"),
      "/loop": sendTo("/loop"),
      "/gone": status(404),
    });
    await installation.run(["crawl", site.url("/"), "--attempts", "1", "--json"]);
    const shown = await installation.run(["runs", "show", "last"]);
    assert.equal(lineOf(shown.stdout, "pages"), "5 known: 2 completed, 3 failed");
    assert.equal(lineOf(shown.stdout, "started by"), "local");
    site.on("/broken", status(500));
    const none = await installation.run(["runs", "errors", "last"]);
    assert.match(none.stdout, /too_many_redirects/);
    assert.doesNotMatch(none.stderr, /retries these/, "neither a loop nor what is not there");
    await installation.run(["crawl", site.url("/"), "--attempts", "1", "--json"]);
    const some = await installation.run(["runs", "errors", "last"]);
    assert.match(some.stderr, /orb runs retry-failed last --reason http_server_error retries these/);
  });

  test("of a crawl whose process was killed, at once that nobody works on it, and how to go on [slow]", async () => {
    await using installation = new Installation({ APP_RETRY_BASE_SECONDS: "400", APP_RETRY_MAX_SECONDS: "900" });
    await using site = await MisbehavingSite.start({ "/": links("/broken", "/slow"), "/broken": status(500) });
    site.on("/slow", hang);
    const crawl = installation.start(["crawl", site.url("/")]);
    await Promise.all([site.visited("/broken"), site.visited("/slow")]);
    const retried = () => installation.json<unknown[]>("runs", "tasks", "last", "--status", "retrying");
    await until(async () => (await retried()).length === 1, "that it failed is written");
    await crawl.killed();
    const run = await installation.json<RunView>("runs", "show", "last");
    assert.deepEqual([run.status, run.waiting_for?.reason], ["running", "no_worker"]);
    const { stdout } = await installation.run(["runs", "show", "last"]);
    assert.match(
      lineOf(stdout, "waits") ?? "",
      new RegExp(`^No worker is running: .*; orb crawl --resume ${run.id} continues it`),
    );
    const errors = await installation.run(["runs", "errors", "last"]);
    assert.match(errors.stdout, /^retrying +count +next attempt/);
    assert.match(errors.stdout, /http_server_error +1 .* the server answered 500 \(server error\)/);
    const tasks = await installation.json<{ url: string }[]>("runs", "tasks", "last", "--status", "retryable");
    assert.deepEqual(
      tasks.map(({ url }) => url),
      [site.url("/broken")],
    );
  });

  test("of a page that is tried again: the error, the attempt and when that is [slow]", async () => {
    await using installation = new Installation({ APP_RETRY_BASE_SECONDS: "400", APP_RETRY_MAX_SECONDS: "900" });
    await using site = await MisbehavingSite.start({ "/": status(503) });
    const job = installation.file(
      "job.json",
      JSON.stringify({ target_url: site.url("/"), strategy: "http", max_attempts: 4 }),
    );
    const { id } = await installation.json<{ id: string }>("jobs", "create", job);
    const waits = installation.start(["jobs", "run", id, "--wait"]);
    await waits.said("Retry scheduled");
    const { stdout } = await installation.run(["runs", "show", "last"]);
    assert.match(
      lineOf(stdout, "last error") ?? "",
      /^bad_response \(http_server_error\), HTTP 503: the server answered 503 .*; attempt 2 of 4 in \d+ min$/,
    );
    assert.equal(lineOf(stdout, "failure"), null, "it has not failed for good");
    const { stdout: list } = await installation.run(["runs", "list"]);
    assert.match(list, /running +rate_limited: http_server_error/);
    assert.equal(lineOf(stdout, "progress"), "0 %");
    await waits.killed();
  });
});
