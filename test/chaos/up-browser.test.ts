import assert from "node:assert/strict";
import { test } from "node:test";
import { isAlive, treeOf } from "../fetch/browser/processes.ts";
import { CheckedApi } from "../jobs/answers.ts";
import { browserGate, chromiumPath } from "../support/browser-kit.ts";
import { Target } from "./target.ts";
import { until } from "./orb.ts";
import { Upped } from "./upped.ts";

test("SIGTERM to orb up while a page is open in a browser leaves neither", browserGate, async () => {
  await using target = await Target.start(1);
  const { promise: forever } = Promise.withResolvers<never>();
  target.script = () => forever;
  await using up = await Upped.start({ APP_BROWSER_PATH: chromiumPath, APP_SHUTDOWN_GRACE_SECONDS: "0.5" });
  const api = await CheckedApi.open(up.url);
  const job = await api.post("/jobs", { name: "page", target_url: target.url("/page"), strategy: "browser" });
  await api.post(`/jobs/${job.json<{ id: string }>().id}/runs`);
  await target.when(() => target.open > 0, "the browser asks for the page");
  await api.close();
  const browsers = treeOf(up.pid("worker-1")).filter(({ command }) => command.includes("--type="));
  assert.ok(browsers.length > 0, "a browser is open");
  assert.equal((await up.stopped()).code, 0);
  await until(() => !browsers.some(({ pid }) => isAlive(pid)), "no browser is left");
});
