import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { Orb } from "../chaos/orb.ts";
import { root } from "../support/source.ts";

const TOKEN = "a-token-for-probes-0123456789";

async function probe(path: string, env: Record<string, string>): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [join(root, "deploy", "probe.mjs"), path], { env });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, said };
}

test("the probe of the image says yes while the server is well, and why not otherwise", async () => {
  await using orb = new Orb({ APP_API_TOKEN: TOKEN });
  const server = orb.start(["serve", "--port", "0"]);
  await server.said("listening on");
  const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(server.stderr)?.[1] ?? "";
  const env = { APP_PORT: port, APP_API_TOKEN: TOKEN };
  assert.deepEqual(await probe("/health", env), { code: 0, said: "" });
  assert.deepEqual(await probe("/ready", env), { code: 0, said: "" });
  assert.deepEqual(await probe("/health", { APP_PORT: port }), { code: 0, said: "" });
  const stranger = await probe("/ready", { APP_PORT: port });
  assert.equal(stranger.code, 1);
  assert.match(stranger.said, /^\/ready: 401 /);
  server.kill("SIGTERM");
  await server.end();
  const gone = await probe("/health", env);
  assert.equal(gone.code, 1);
  assert.match(gone.said, /ECONNREFUSED/);
});
