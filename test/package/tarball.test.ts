import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { OrbProcess } from "../chaos/orb.ts";
import { read } from "../support/source.ts";
import { checkTypes, PROGRAM } from "./check-types.ts";
import { makeProject, type Packed, REAL_INSTALL } from "./installed.ts";

const PAGE = "<!doctype html><title>Shop</title><h1>Tea, loose</h1><p>Green tea from the hills, 100 g.</p>";

describe("the package as npm installs it", () => {
  const site = createServer((_, response) => response.setHeader("content-type", "text/html").end(PAGE));
  const project = makeProject();
  let page = "";
  let packed: Packed;

  before(async () => {
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    page = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  });
  after(() => {
    site.closeAllConnections();
    site.close();
    project[Symbol.dispose]();
  });

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env["PATH"] ?? "",
    HOME: project.dir,
    // Compiled once, and not by each command.
    NODE_COMPILE_CACHE: join(project.dir, "compiled"),
    APP_ALLOW_PRIVATE_NETWORKS: "true",
    ...more,
  });
  const orb = (args: string[], more: Record<string, string> = {}) =>
    new OrbProcess(args, { cwd: project.dir, env: environment(more), orb: project.orb });
  const write = (name: string, text: string) => writeFileSync(join(project.dir, name), text);

  test("it holds what users need, and nothing of how it is made", async () => {
    packed = await project.pack();
    const paths = packed.files.map(({ path }) => path);
    const rooms = new Set(
      paths.map((path) =>
        path
          .split("/")
          .slice(0, path.startsWith("dist/") ? 2 : 1)
          .join("/"),
      ),
    );
    assert.deepEqual([...rooms].sort(), [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin",
      "dist/code",
      "dist/types",
      "dist/web",
      "docs",
      "package.json",
    ]);
    for (const path of ["dist/code/main.js", "dist/types/index.d.ts", "dist/web/index.html", "dist/web/licences.md"])
      assert.ok(paths.includes(path), path);
    assert.deepEqual(
      paths.filter((path) => /(?<!\.d)\.ts$|\.test\.|sources\.json$/.test(path)),
      [],
    );
  });

  test("npm installs it", async () => {
    const packages = await project.install(packed);
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    const how = REAL_INSTALL ? "installed by npm" : "by the lock file";
    process.stdout.write(
      `the package: ${megabytes(packed.size)}, unpacked ${megabytes(packed.unpackedSize)}, ${packages} packages ${how}\n`,
    );
  });

  test("orb says its version, its configuration and how it finds the machine", async () => {
    const { version } = JSON.parse(read("package.json")) as { version: string };
    const [said, config, doctor] = await Promise.all([
      orb(["--version"]).end(),
      orb(["config"]).end(),
      orb(["doctor"]).end(),
    ]);
    assert.deepEqual([said.code, said.stdout.trim(), said.stderr], [0, version, ""]);
    assert.equal(config.code, 0, config.stderr);
    assert.match(config.stdout, /APP_DATABASE_URL/);
    assert.match(doctor.stdout + doctor.stderr, /Node/i);
    assert.doesNotMatch(doctor.stderr, /\n\s+at /);
  });

  test("orb serve scrapes a page, shows the dashboard and stops when it is told to", async () => {
    const server = orb(["serve", "--port", "0"]);
    try {
      await server.said("http://127.0.0.1:");
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stderr)?.[0] ?? "";
      const job = await fetch(`${url}/jobs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "tea", target_url: page, fields: { title: "h1" } }),
      });
      const { id } = (await job.json()) as { id: string };
      const run = await orb(["jobs", "run", id, "--wait", "--json", "--url", url]).end();
      assert.equal(run.code, 0, run.stderr);
      const results = await fetch(`${url}/jobs/runs/${(JSON.parse(run.stdout) as { id: string }).id}/results`);
      assert.match(await results.text(), /Tea, loose/);
      const dashboard = await fetch(url, { headers: { accept: "text/html" } });
      assert.match(await dashboard.text(), /<div id="root"|<script type="module"/);
      server.kill("SIGTERM");
      assert.equal((await server.end()).code, 0, server.story());
    } finally {
      await server.killed();
    }
  });

  test("a program imports the library", async () => {
    write(
      "program.ts",
      `import { loadConfig, Orchestrator } from "orbweaver";
const { config } = loadConfig({ env: { ...process.env, APP_DATA_DIR: "./library" }, cwd: process.cwd() });
await using orb = await Orchestrator.start(config);
const [page] = await orb.scrape(${JSON.stringify(page)}, { fields: { title: "h1" } });
process.stdout.write(\`\${page?.["title"]}\\n\`);
`,
    );
    // Not synchronously: the page is served by this process.
    const { stdout } = await promisify(execFile)(process.execPath, ["program.ts"], {
      cwd: project.dir,
      env: environment({ APP_DATABASE_URL: "sqlite:./library/orb.db" }),
    });
    assert.equal(stdout, "Tea, loose\n");
  });

  test("a program calls a server with the client", async () => {
    const server = orb(["serve", "--port", "0"], {
      APP_DATA_DIR: "./client",
      APP_DATABASE_URL: "sqlite:./client/orb.db",
    });
    try {
      await server.said("http://127.0.0.1:");
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stderr)?.[0] ?? "";
      write(
        "client.ts",
        `import { createClient } from "orbweaver/client";
const client = createClient({ url: process.argv[2] ?? "" });
const { id } = await client.runs.start({ target_url: ${JSON.stringify(page)}, fields: { title: "h1" } });
const { status } = await client.waitForRun(id, { timeoutMs: 240_000 });
for await (const { data } of client.runs.results(id)) process.stdout.write(\`\${status} \${String(data["title"])}\\n\`);
`,
      );
      const ran = await promisify(execFile)(process.execPath, ["client.ts", url], {
        cwd: project.dir,
        env: environment(),
      });
      assert.equal(ran.stdout, "completed Tea, loose\n");
    } finally {
      await server.killed();
    }
  });

  test("a handler of the user's own does an item of the queue", async () => {
    write(
      "handlers.ts",
      `import { defineHandlers } from "orbweaver/handlers";
export const handlers = defineHandlers({
  length: async (item, context) => ({ length: (await context.fetch(item.url)).body.length }),
});
`,
    );
    const env = { APP_DATABASE_URL: "sqlite:./handlers/orb.db", APP_DATA_DIR: "./handlers" };
    write("items.jsonl", `${JSON.stringify({ artifact_id: "a", url: page, handler: "length" })}\n`);
    assert.equal((await orb(["queue", "import", "items.jsonl"], env).end()).code, 0);
    const run = await orb(["queue", "run", "--drain"], { ...env, APP_HANDLERS: "./handlers.ts" }).end();
    assert.equal(run.code, 0, run.stderr);
    const show = await orb(["queue", "show", "a"], env).end();
    assert.match(show.stdout, new RegExp(`"length":${PAGE.length}`));
  });

  test("the types of all doors reach a user's program", () => {
    write("types.ts", PROGRAM);
    checkTypes(project.dir, ["types.ts", "program.ts", "handlers.ts", "client.ts"]);
  });
});
