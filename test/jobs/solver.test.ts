import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { captchaWall, page } from "../support/misbehaviours.ts";
import { tempDir } from "../support/temp-dir.ts";
import { Place } from "./kit.ts";

const PASS = { name: "solved", value: "by-a-program" };

/** A solver that looks at what it is given, and answers only when it is what was promised. */
const SOLVER = `export const handlers = {
  solve_challenge: (item) => {
    const { kind, html, screenshot } = item.payload;
    if (item.url.endsWith("/never")) return undefined;
    if (item.url.endsWith("/unsendable")) return { headers: { "two words": "x" } };
    if (item.url.endsWith("/broken")) throw new Error("no idea");
    const picture = Buffer.from(screenshot, "base64").subarray(1, 4).toString();
    if (kind !== "captcha" || picture !== "PNG" || !html.includes("robot")) return { cookies: [] };
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
    await using site = await MisbehavingSite.start({ "/": wall, "/never": wall, "/broken": wall, "/unsendable": wall });
    await using place = await Place.open({ APP_HANDLERS: module, APP_BROWSER_MAX_PAGES: "3" });
    const solved = await place.ended((await place.begin({ target_url: site.url("/") })).id);
    assert.deepEqual([solved.status, solved.attempt, solved.stats["title"]], ["completed", 1, "Behind the wall"]);
    for (const path of ["/never", "/broken", "/unsendable"]) {
      const { id } = await place.begin({ target_url: site.url(path) });
      await place.said(id, /^Waiting for a person/);
      await place.api.post(`/jobs/runs/${id}/cancel`);
    }
  });
});
