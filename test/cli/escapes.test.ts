/** What a page says on a terminal, and in a pipe. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { visible, visibleBytes, withoutForeignCommands } from "../../src/base/visible-text.ts";
import { type Answer, Target } from "../chaos/target.ts";
import { Orb } from "../chaos/orb.ts";
import { hasScript, onTerminal } from "./screen.ts";

/** Sets the title of the window, clears the screen, types into it; once with ESC, once with one byte of C1. */
const ATTACK = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\u0000";

async function openSite(): Promise<Target> {
  const target = await Target.start(1);
  target.script = (): Answer => ({
    headers: { "content-type": "text/html; charset=utf-8" },
    body: `<!doctype html><html lang="en"><head><title>T${ATTACK}</title></head><body><p>P${ATTACK}</p></body></html>`,
  });
  return target;
}

const FORMS: readonly string[][] = [
  ["--format", "html"],
  ["--format", "raw_html"],
  ["--format", "csv"],
  ["--format", "json"],
  ["--json"],
  [],
];

/** Our own lines on the screen begin with sequences as well: of all that is there, none may be the page's. */
// oxlint-disable-next-line no-control-regex
const FOREIGN = /\u001b\]|\u001b\[2J|[\u0080-\u009f\u0007\u0000\u202e]/;

describe("a page that sends commands to terminals", { skip: hasScript ? false : "there is no script(1) here" }, () => {
  test("is only text on a screen, in every form [slow]", async () => {
    await using site = await openSite();
    for (const form of FORMS) {
      await using orb = new Orb();
      const screen = onTerminal(orb, ["scrape", site.url("/"), "--strategy", "http", ...form]);
      assert.equal(await screen.ended, 0, screen.text);
      assert.match(screen.text, /evil/, `${form.join(" ")} shows the page`);
      assert.doesNotMatch(screen.text, FOREIGN, form.join(" "));
    }
  });

  test("is what it is in a pipe [slow]", async () => {
    await using site = await openSite();
    await using orb = new Orb();
    const { code, stdout } = await orb.run(["scrape", site.url("/"), "--strategy", "http", "--format", "raw_html"]);
    assert.equal(code, 0);
    assert.ok(stdout.includes("\u001b]0;owned\u0007\u001b[2J\u009b31m"), JSON.stringify(stdout));
  });
});

test("control characters are shown as what they are, and mean the same in JSON", async () => {
  assert.equal(visible("a\u001b[31m\tb\r\nc\rd\u009b"), "a\\u001b[31m\tb\r\nc\\u000dd\\u009b");
  const value = { text: "x\u009b31m\u202e" };
  assert.deepEqual(JSON.parse(visible(JSON.stringify(value))), value);
  assert.equal(withoutForeignCommands("\u001b[31mours\u001b[0m \u009b31m"), "\u001b[31mours\u001b[0m \\u009b31m");
  const pieces = async function* () {
    const bytes = Buffer.from("é\u009b\r\n\r");
    for (const byte of bytes) yield Uint8Array.of(byte);
  };
  const parts: Uint8Array[] = [];
  for await (const part of visibleBytes(pieces())) parts.push(part);
  assert.equal(Buffer.concat(parts).toString(), "é\\u009b\r\n\\u000d");
});
