import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { read, root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { examplesOf } from "./markdown.ts";

/** The hosts that the pages speak of, in order; each is a server on this machine. */
const HOSTS = ["example.com", "www.rfc-editor.org"];
const PAGES: Record<string, { type: string; body: string }> = {
  "/": {
    type: "text/html",
    body: `<!doctype html><html lang="en"><head><title>Example Domain</title></head><body><div><h1>Example Domain</h1>
<p>This domain is for use in documentation examples without needing permission. Avoid use in operations.</p>
<p><a href="https://iana.org/domains/example">Learn more</a></p></div></body></html>`,
  },
  "/rfc/rfc9309.txt": { type: "text/plain", body: "Robots Exclusion Protocol\n".padEnd(28_049, ".") },
  "/paper-4": { type: "text/html", body: "<p>Spiders and their webs, for those in a hurry</p>\n".padEnd(61, " ") },
};

interface Place extends AsyncDisposable {
  dir: string;
  /** The text with the hosts of the pages replaced by the servers here. */
  toHere(text: string): string;
  run(script: string): Promise<{ code: number | null; output: string }>;
}

/** A folder that looks like a fresh clone, and the sites that the examples fetch from. */
async function openPlace(): Promise<Place> {
  const folder = tempDir();
  const dir = folder.path;
  for (const name of ["package.json", "tsconfig.json"]) cpSync(join(root, name), join(dir, name));
  for (const name of ["bin", "src", "node_modules"]) symlinkSync(join(root, name), join(dir, name));
  const listening = await Promise.all(
    HOSTS.map(async () => {
      const server = createServer((request, response) => {
        const { type, body } = PAGES[request.url ?? ""] ?? { type: "text/html", body: `this is ${request.url}` };
        response.writeHead(request.url === "/missing" ? 404 : 200, { "content-type": type });
        response.end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { server, here: `127.0.0.1:${(server.address() as AddressInfo).port}` };
    }),
  );
  // Lists are in order of site: the servers take the names so that theirs is the same as on the page.
  const servers = listening
    .toSorted((a, b) => (a.here < b.here ? -1 : 1))
    .map((server, index) => ({ ...server, host: HOSTS[index] ?? "" }));
  const toHere = (text: string) =>
    servers.reduce(
      (all, { host, here }) => all.replaceAll(`https://${host}`, `http://${here}`).replaceAll(host, here),
      text,
    );
  const toPage = (text: string) =>
    servers.reduce(
      (all, { host, here }) => all.replaceAll(`http://${here}`, `https://${host}`).replaceAll(here, host),
      text.replaceAll(dir, "/srv/orb"),
    );
  return {
    dir,
    toHere,
    run: (script) =>
      new Promise((resolve, reject) => {
        const child = spawn("sh", ["-e", "-c", `exec 2>&1\n${toHere(script)}`], {
          cwd: dir,
          env: {
            PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
            HOME: dir,
            APP_ALLOW_PRIVATE_NETWORKS: "true",
            // A machine that is busy is no matter of the pages.
            APP_LOG_LEVEL: "error",
          },
          stdio: ["ignore", "pipe", "inherit"],
        });
        let output = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
        child.on("error", reject);
        child.on("close", (code) => resolve({ code, output: toPage(output) }));
      }),
    [Symbol.asyncDispose]: async () => {
      for (const { server } of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      folder[Symbol.dispose]();
    },
  };
}

/** What differs from run to run is taken out, and columns may be as wide as their content. */
function comparable(text: string): string {
  return (
    text
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z( +)\d+/g, "<time> <ms>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replace(/\b\d\d:\d\d:\d\d\b/g, "<clock>")
      // Tables of addresses are as long as the addresses of the servers here.
      .replace(/\b\d+ bytes, format/g, "<bytes>, format")
      .replace(/\b\d+(?:\.\d)? s\b|\b\d:\d\d\b/g, "<seconds>")
      .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, "<id>")
      .replace(/\r$/gm, "")
      .replace(/sha256\/[0-9a-f]{2}\/[0-9a-f]{64}/g, "<file>")
      .replace(/ +/g, " ")
      .replace(/^ | $/gm, "")
      .trim()
  );
}

for (const page of ["README.md", "docs/queue.md", "docs/jobs.md", "docs/steps.md", "docs/workflows.md"]) {
  test(`whoever types what ${page} shows gets what it shows`, async () => {
    await using place = await openPlace();
    const examples = examplesOf(read(page));
    assert.ok(examples.length >= 3, "there are examples");
    for (const example of examples) {
      if (example.kind === "file") {
        writeFileSync(join(place.dir, example.name), place.toHere(example.text));
        continue;
      }
      const { code, output } = await place.run(example.script);
      const where = `${page}:${example.line}: ${example.script}${output}`;
      assert.equal(code, example.exit, where);
      if (example.output !== null) assert.equal(comparable(output), comparable(example.output), where);
    }
  });
}

test("the examples in TypeScript have no mistake in their types, and a mistake would be found", async () => {
  await using place = await openPlace();
  const names: string[] = [];
  for (const example of ["docs/queue.md", "docs/steps.md"].flatMap((page) => examplesOf(read(page)))) {
    if (example.kind !== "file") continue;
    writeFileSync(join(place.dir, example.name), example.text);
    names.push(example.name);
  }
  assert.deepEqual(names, ["handlers.ts", "library.ts", "steps.ts", "program.ts"]);
  const check = (files: string[]) => {
    writeFileSync(
      join(place.dir, "tsconfig.examples.json"),
      JSON.stringify({ extends: "./tsconfig.json", include: [], files }),
    );
    return place.run(`node node_modules/typescript/bin/tsc --noEmit -p tsconfig.examples.json`);
  };
  assert.deepEqual(await check(names), { code: 0, output: "" });
  const handlers = readFileSync(join(place.dir, "handlers.ts"), "utf8");
  writeFileSync(join(place.dir, "wrong.ts"), handlers.replace("context.save(page.body", "context.save(page.url"));
  const wrong = await check(["wrong.ts"]);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.output, /wrong\.ts.*'string' is not assignable to parameter of type 'Uint8Array/);
});
