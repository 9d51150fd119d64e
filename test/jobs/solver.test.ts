import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { captchaWall, page } from "../support/misbehaviours.ts";
import { tempDir } from "../support/temp-dir.ts";
import { TestServer } from "./kit.ts";

const PASS = { name: "solved", value: "by-a-program" };

/** A solver that looks at what it is given, and answers only when it is what was promised. */
const SOLVER = `export const handlers = {
  solve_challenge: (item) => {
    const { kind, html, screenshot } = item.payload;
    if (item.url.endsWith("/never")) return undefined;
    if (item.url.endsWith("/unsendable")) return { headers: { "two words": "x" } };
    if (item.url.endsWith("/text")) return "solved=by-a-program";
    if (item.url.endsWith("/number")) return { cookies: 7 };
    if (item.url.endsWith("/broken")) throw new Error("no idea");
    const picture = Buffer.from(screenshot, "base64").subarray(1, 4).toString();
    if (kind !== "captcha" || picture !== "PNG" || !html.includes("robot")) return { cookies: [] };
    if (item.url.endsWith("/by-name")) return { cookies: { "${PASS.name}": "${PASS.value}" } };
    const unusable = [{ name: "a b", value: "" }, { name: "old", value: "1", expires: -5 }, { name: "c", value: "1", sameSite: "?" }];
    return { cookies: [...unusable, { name: "${PASS.name}", value: "${PASS.value}" }] };
  },
};
`;

describe("a solver that the user brings", browserGate, () => {
  test("gets past walls without a person; where it does not, a person is asked [slow]", async () => {
    using folder = tempDir();
    const module = join(folder.path, "solver.ts");
    writeFileSync(module, SOLVER);
    const wall = captchaWall(PASS, page("Behind the wall"));
    await using site = await MisbehavingSite.start({
      "/": wall,
      "/by-name": wall,
      "/never": wall,
      "/broken": wall,
      "/unsendable": wall,
      "/text": wall,
      "/number": wall,
    });
    await using server = await TestServer.open({ APP_HANDLERS: module, APP_BROWSER_MAX_PAGES: "3" });
    const solved = await server.ended((await server.begin({ target_url: site.url("/") })).id);
    assert.deepEqual([solved.status, solved.attempt, solved.stats["title"]], ["completed", 1, "Behind the wall"]);
    assert.ok(server.log.some((line) => line.includes("solve_challenge returned unusable parts")));
    const rejected = async (id: string) =>
      (await server.events(id)).filter(({ type }) => type === "challenge.solution_rejected").map((one) => one.message);
    const [parts] = await rejected(solved.id);
    assert.match(
      parts ?? "",
      /^solve_challenge returned unusable parts: cookies\[0\]: not a valid cookie; cookies\[1\]/,
    );
    const named = await server.run({ target_url: site.url("/by-name") });
    assert.deepEqual([named.status, await rejected(named.id)], ["completed", []]);
    const walls = [
      ["/never", null],
      ["/broken", /^solve_challenge failed: .*no idea/],
      ["/unsendable", /^solve_challenge returned unusable parts: /],
      ["/text", /^solve_challenge returned unusable parts: expected an object with cookies, headers, local_storage/],
      ["/number", /^solve_challenge returned unusable parts: cookies: expected a list of \{name, value\}/],
    ] as const;
    for (const [path, why] of walls) {
      const { id } = await server.begin({ target_url: site.url(path) });
      await server.said(id, /^Waiting for a person/);
      const said = await rejected(id);
      if (why === null) assert.deepEqual(said, []);
      else assert.match(said.join(), why);
      await server.api.post(`/jobs/runs/${id}/cancel`);
    }
  });
});
