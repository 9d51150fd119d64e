import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { SessionView } from "../../src/orchestrator/sessions.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

describe("orb sessions and orb login", { concurrency: 2 }, () => {
  test("a password comes from standard input, lets a page in, and is shown nowhere [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const origin = shop.url("");
    const flags = ["--origin", origin, "--basic", "ann", "--name", "shop", "--check-url", shop.url("/members")];
    const added = await orb.run(["sessions", "add", ...flags], { input: "hunter2\n" });
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /^holds +basic$/m);
    const id = /^id +(\S+)$/m.exec(added.stdout)?.[1] ?? "";
    const checked = await orb.run(["sessions", "check", id]);
    assert.equal(checked.code, 0, checked.stderr);
    assert.match(checked.stdout, /^health +healthy/m);
    const scraped = await orb.run(["scrape", shop.url("/members"), "--session", id, "--fields", "title"]);
    assert.equal(scraped.code, 0, scraped.stderr);
    assert.match(scraped.stdout, /Members/);
    const listed = await orb.run(["sessions", "list"]);
    assert.match(listed.stdout, /^id +name +holds +health +origin\n\S+ +shop +basic +healthy +http/);
    const all = [added, checked, scraped, listed].map(({ stdout, stderr }) => stdout + stderr).join("");
    assert.ok(!all.includes("hunter2") && !all.includes(Buffer.from("ann:hunter2").toString("base64")));
    assert.ok(!readFileSync(orb.database).includes("hunter2"));
    assert.deepEqual(await orb.json("sessions", "delete", id), { deleted: id });
    assert.deepEqual(await orb.json("sessions", "list"), []);
  });

  test("a storage state as a newer Playwright writes it is taken for its own origin [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const cookie = { path: "/", expires: -1, httpOnly: true, secure: false, sameSite: "Lax", partitionKey: "x" };
    const state = {
      cookies: [
        { ...cookie, name: "sid", value: "4711-secret", domain: "127.0.0.1" },
        { ...cookie, name: "other", value: "elsewhere", domain: "other.test" },
      ],
      origins: [{ origin: shop.url(""), localStorage: [{ name: "k", value: "v" }], indexedDB: [] }],
    };
    orb.file("state.json", JSON.stringify(state));
    const session = await orb.json<SessionView>(
      ...["sessions", "add", "--origin", shop.url("/members"), "--storage-state", "state.json"],
    );
    assert.deepEqual([session.origin, session.holds], [shop.url(""), ["cookies", "local_storage"]]);
    const run = await orb.run([...["scrape", shop.url("/members"), "--strategy", "http"], "--session", session.id]);
    assert.equal(run.code, 0, run.stderr);
  });

  test("a rejected session ends with 1; wrong words are named, and no secret is repeated [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const origin = shop.url("");
    const bad = await orb.json<SessionView>(
      ...["sessions", "add", "--origin", origin, "--cookie", "sid=old", "--check-url", shop.url("/members")],
    );
    const checked = await orb.run(["sessions", "check", bad.id]);
    assert.equal(checked.code, 1);
    assert.match(checked.stdout, /^health +rejected/m);
    orb.file("state.json", "[1]");
    const cases: [string[], RegExp][] = [
      [["--origin", origin], /expected at least one of cookies, headers, basic/],
      [["--origin", "shop", "--cookie", "a=hunter2"], /origin: expected the origin of a site/],
      [["--origin", origin, "--basic", "ann:hunter2"], /expected only the user name/],
      [["--origin", origin, "--cookie", "hunter2"], /--cookie: expected name=value/],
      [["--origin", origin, "--storage-state", "state.json"], /--storage-state: expected a JSON object/],
      [["--cookie", "a=hunter2"], /--origin/],
    ];
    for (const [args, what] of cases) {
      const { code, stderr, stdout } = await orb.run(["sessions", "add", ...args], { input: "" });
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, what);
      assert.equal(stdout, "");
      assert.ok(!stderr.includes("hunter2"), stderr);
    }
    const shown = await orb.run(["sessions", "add", "--origin", origin, "--cookie", "sid=hunter2;x"]);
    assert.equal(shown.code, 2);
    assert.ok(!shown.stderr.includes("hunter2"));
  });

  test("orb login without a display says what to type instead", async () => {
    await using orb = new Installation();
    const { code, stderr } = await orb.run(["login", "https://shop.test/login"]);
    assert.equal(code, 2);
    for (const way of ["--storage-state FILE", "--cookie name=value", "--header 'Name: value'", "--basic USER"])
      assert.ok(stderr.includes(`orb sessions add --origin https://shop.test ${way}`), stderr);
  });
});
