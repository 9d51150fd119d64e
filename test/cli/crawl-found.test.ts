import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Orb } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { Installation } from "./installation.ts";
import { hasScript, onTerminal } from "./screen.ts";

/** A title that would colour the screen, name the window and begin another line, if a terminal got it as it is. */
const HOSTILE = "Tea \u001b[31mred\u001b]0;mine\u0007 \u202egreen\u009b2J";

test("a crawl that failed says why in orb runs list", async () => {
  await using installation = Installation.prepared({ APP_RETRY_BASE_SECONDS: "0.01" });
  const crawl = await installation.run(["crawl", "http://127.0.0.1:9/", "--strategy", "http", "--attempts", "1"]);
  assert.equal(crawl.code, 1, crawl.stderr);
  const { stdout } = await installation.run(["runs", "list", "--status", "failed"]);
  assert.match(stdout, /failed +the site's robots\.txt could not be read \(127\.0\.0\.1 refused the connection\)/);
});

describe("orb crawl on a terminal", { skip: !hasScript && "there is no script(1)" }, () => {
  test("shows a table that fits, where it is kept and how to get it; in a pipe it prints the records [slow]", async () => {
    await using site = await MisbehavingSite.start({
      "/": html('<title>Front</title><p>Some words.</p><a href="/hostile">a</a> <a href="/long">b</a>'),
      "/hostile": html(`<title>${HOSTILE}</title><p>Words of it.</p>`),
      "/long": html(`<title>${"Long ".repeat(60)}</title><p>Words of another.</p>`),
    });
    await using orb = new Orb();
    const words = ["crawl", site.url("/"), "--strategy", "http"];
    for (const columns of [80, 120]) {
      const screen = onTerminal(orb, words, columns);
      assert.equal(await screen.ended, 0, screen.text);
      const end = screen.text.slice(screen.text.lastIndexOf("title ")).replaceAll("\u001b[?25h", "");
      const lines = end.split("\r\n");
      assert.match(lines[0] ?? "", /^title +url +depth/);
      assert.match(end, /^Front +127\.0\.0\.1:\d+\/ /m);
      assert.match(end, /^Tea .*red.* +127\.0\.0\.1:\d+\/hostile/m);
      assert.match(end, /orb runs results [0-9a-f]{8} --format csv --out found\.csv/);
      for (const sign of ["\u001b", "\u0007", "\u009b", "\u202e", "{"])
        assert.ok(!end.includes(sign), JSON.stringify(sign));
      for (const line of lines) assert.ok(line.length <= columns, `${line.length} of ${columns}: ${line}`);
      const id = /orb runs results ([0-9a-f]{8})/.exec(end)?.[1] ?? "";
      assert.equal((await orb.json<unknown[]>("runs", "results", id)).length, 3);
    }
    const piped = await orb.run(words);
    assert.equal((JSON.parse(piped.stdout) as unknown[]).length, 3);
    const asked = onTerminal(orb, [...words, "--format", "jsonl"]);
    assert.equal(await asked.ended, 0);
    assert.match(asked.text, /^\{"id":/m);
  });
});
