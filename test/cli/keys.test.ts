import assert from "node:assert/strict";
import { test } from "node:test";
import { TestServer } from "../jobs/kit.ts";
import { Installation } from "./installation.ts";

interface Key {
  id: string;
  role: string;
  tags: string[] | null;
  requests_per_minute: number | null;
}

test("orb keys update changes what is named, ends limits, and refuses a rate that is no number", async () => {
  await using server = await TestServer.open();
  await using orb = new Installation();
  const at = ["--url", server.api.url];
  const limits = ["--tag", "shop", "--requests-per-minute", "60"];
  const made = await orb.json<Key>("keys", "create", "ci", "--role", "operator", ...limits, ...at);
  const update = (...options: string[]) => ["keys", "update", made.id, ...options, ...at];
  const shown = async () => {
    const { role, tags, requests_per_minute: rate } = await orb.json<Key>("keys", "show", made.id, ...at);
    return [role, tags, rate];
  };
  assert.deepEqual(await shown(), ["operator", ["shop"], 60]);
  const refused = await orb.run(update("--requests-per-minute", "60/min"));
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /expected a whole number above 0/);
  const unmade = await orb.run(["keys", "create", "cd", "--requests-per-minute", "many", ...at]);
  assert.match(unmade.stderr, /expected a whole number above 0/);
  assert.deepEqual(await shown(), ["operator", ["shop"], 60], "nothing has changed");
  await orb.json<Key>(...update("--role", "viewer"));
  assert.deepEqual(await shown(), ["viewer", ["shop"], 60]);
  await orb.json<Key>(...update("--requests-per-minute", "none", "--tag", "none"));
  assert.deepEqual(await shown(), ["viewer", null, null]);
  const [listed, ...others] = await orb.json<Key[]>("keys", "list", ...at);
  assert.deepEqual([listed?.id, others.length], [made.id, 0], "the key that was refused was not made");
  await orb.json<Key>(
    "keys",
    "create",
    "cd",
    "--site",
    "a.example",
    "--tag",
    "x",
    "--expires",
    "2099-01-31T00:00:00Z",
    ...at,
  );
  const table = (await orb.run(["keys", "list", ...at])).stdout;
  assert.match(table, /cd +viewer +active +1 site, 1 tag +2099-01-31 +never/);
});
