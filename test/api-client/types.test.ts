import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NAMES } from "../../src/api-client/names.ts";
import { BODIES, ROUTES } from "../../src/api-client/operations.ts";
import { FRUGAL } from "../../scripts/types.mjs";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

test("every operation of the API has one name in the client, but for files and streams, which have methods of their own", () => {
  const named = Object.values(NAMES).flatMap((names) => Object.values(names) as string[]);
  assert.equal(new Set(named).size, named.length, "none has two");
  const others = Object.values(ROUTES).filter((route) => !named.includes(route));
  assert.deepEqual(others.toSorted(), [
    "get /artifacts/{artifact_id}",
    "get /events/stream",
    "get /jobs/runs/{run_id}/events/stream",
    "get /live/stream",
    "get /sites/progress/stream",
  ]);
  assert.deepEqual(
    [...BODIES].filter((route) => route.startsWith("get ")),
    [],
  );
});

/** What a program may write, and what the compiler says to it; null: nothing. */
const PROGRAMS: Record<string, readonly [text: string, complaint: RegExp | null]> = {
  good: [
    `const run = await client.runs.start({ target_url: "https://example.com/", fields: { title: "h1" } });
for await (const { data } of client.runs.results(run.id, { limit: 10 })) console.log(data["title"]);
const all = await client.request("get /runs", { query: { status: "failed" } });
console.log(all[0]?.status === "failed", await client.workflows.create("name: A\\nsteps: []"));
try { await client.runs.cancel(run.id, { signal: AbortSignal.timeout(1000) }); } catch (error) {
  if (isOrbweaverError(error, "illegal_transition")) console.log(error.errors[0]?.path, error.status);
}
const events: AsyncIterable<{ message: string }> = client.followRun(run.id);
console.log(events, (await client.waitForCrawl("a", { onProgress: ({ completed_items }) => console.log(completed_items) })).status);`,
    null,
  ],
  field: [`await client.jobs.create({ name: "a", target: "https://example.com/" });`, /TS2561|TS2353/],
  answer: [`console.log((await client.runs.get("a")).state);`, /'state' does not exist on type 'Run'/],
  code: [
    `try {} catch (error) { if (isOrbweaverError(error, "not_fond")) throw error; }`,
    /"not_fond"' is not assignable/,
  ],
  compared: [
    `try {} catch (error) { if (error instanceof OrbweaverError && error.code === "gone") throw error; }`,
    /have no overlap/,
  ],
  route: [`await client.request("get /runz");`, /TS2345|TS2554/],
  query: [`client.runs.list({ stat: "failed" });`, /'stat' does not exist/],
  id: [`await client.runs.get();`, /Expected 1-2 arguments/],
  status: [`if ((await client.waitForRun("a")).status === "finished") console.log(1);`, /have no overlap/],
};

test("what the API does not know does not compile: fields, codes, addresses, states", async () => {
  using folder = tempDir();
  const door = join(root, "src/api-client/client.ts");
  const head = `import { createClient, isOrbweaverError, OrbweaverError } from ${JSON.stringify(door)};
const client = createClient({ url: "http://127.0.0.1:8000" });\nexport { client, isOrbweaverError, OrbweaverError };\n`;
  for (const [name, [text]] of Object.entries(PROGRAMS)) writeFileSync(join(folder.path, `${name}.ts`), head + text);
  // As in a page: what a browser has, and nothing of Node.
  const compilerOptions = {
    ...{ target: "es2022", module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom", "dom.iterable"] },
    ...{ types: [], strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true },
  };
  writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const said = await new Promise<string>((resolve) => {
    const words = [
      join(root, "node_modules/typescript/bin/tsc"),
      "--project",
      folder.path,
      "--pretty",
      "false",
      ...FRUGAL.words,
    ];
    const env = { ...process.env, ...FRUGAL.env };
    execFile(process.execPath, words, { cwd: folder.path, env }, (_error, stdout) => resolve(stdout));
  });
  for (const [name, [, complaint]] of Object.entries(PROGRAMS)) {
    const about = said.split("\n").filter((line) => line.startsWith(`${name}.ts`));
    if (complaint === null) assert.deepEqual(about, []);
    else assert.match(about.join("\n"), complaint, `${name}: ${said}`);
  }
  assert.deepEqual(
    said.split("\n").filter((line) => !/^(?:\w+\.ts\(|\s|$)/.test(line)),
    [],
    "and nothing is said of anything else",
  );
});
