import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { test } from "node:test";
import { Orb } from "../chaos/orb.ts";
import { Target } from "../chaos/target.ts";
import { read } from "../support/source.ts";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

/** The script and its output that a page shows for the API. */
function example(path: string): { script: string; output: string } {
  const page = read(path);
  const fence = (words: string) => new RegExp(`^\`\`\`${words}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";
  return { script: fence("sh api"), output: fence("text api-output") };
}

test(
  "whoever types what the pages show of the API, with the server running, gets what they show",
  { skip: hasCurl ? false : "there is no curl here" },
  async () => {
    await using site = await Target.start(1);
    site.script = () => ({
      headers: { "content-type": "text/html" },
      body: "<title>Example Domain</title><h1>Example Domain</h1><p>This domain is for use in documentation examples.</p>",
    });
    await using orb = new Orb();
    const server = orb.start(["serve", "--port", "0"]);
    await server.said("listening on");
    const url = /listening on (http:\/\/[^"]+)/.exec(server.stderr)?.[1] ?? "";
    const here = (text: string) =>
      text.replaceAll("http://127.0.0.1:8000", url).replaceAll("https://example.com/", site.url("/"));
    for (const page of ["README.md", "docs/workflows.md"]) {
      const { script, output } = example(page);
      assert.ok(script.includes("http://127.0.0.1:8000/") && output !== "", `there is an example in ${page}`);
      const child = spawn("sh", ["-e", "-c", here(script)], { cwd: orb.dir, stdio: ["ignore", "pipe", "inherit"] });
      let told = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (told += text));
      const code = await new Promise((resolve) => child.once("close", resolve));
      assert.deepEqual([code, told.replaceAll("\r", "").trim()], [0, here(output).trim()], page);
    }
  },
);
