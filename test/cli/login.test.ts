import assert from "node:assert/strict";
import { chmodSync, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import type { SessionView } from "../../src/orchestrator/sessions.ts";
import { Orb, until } from "../chaos/orb.ts";
import { html, SITE, webSite } from "../support/browser-kit.ts";
import { hasScript, onTerminal } from "./screen.ts";

/** A whole Chromium: the headless shell cannot show a window. */
const chromium = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name)))
  .find((path) => existsSync(path));
const skip =
  chromium === undefined ? "there is no whole Chromium here" : hasScript ? false : "there is no script(1) here";

test(
  "somebody signs in in a window and presses Enter; the session is stored, and lets a page in",
  { skip },
  async () => {
    await using site = await webSite({
      "/login": html("<title>Sign in</title><p>signed in at once</p>", 200, {
        "set-cookie": "sid=4711-secret; Path=/; HttpOnly",
      }),
      "/members": (request, response) => {
        const known = request.headers.cookie?.includes("sid=4711-secret") === true;
        html(known ? "<title>Inside</title><p>welcome</p>" : "<p>no</p>", known ? 200 : 401)(request, response);
      },
    });
    await using orb = new Orb({ DISPLAY: ":99", APP_ALLOW_PRIVATE_NETWORKS: `${SITE}/32` });
    // The window is drawn nowhere: the browser is the real one, with a screen of its own making.
    const path = orb.file("browser", `#!/bin/sh\nexec '${chromium}' --ozone-platform=headless "$@"\n`);
    chmodSync(path, 0o755);
    orb.env["APP_BROWSER_PATH"] = path;
    const screen = onTerminal(orb, ["login", site.url("/login"), "--name", "mine"]);
    await until(() => screen.text.includes("press Enter here"), "it waits for the person");
    screen.type("\r");
    assert.equal(await screen.ended, 0, screen.text);
    assert.ok(!screen.text.includes("4711-secret"));
    const [session] = await orb.json<SessionView[]>("sessions", "list");
    assert.deepEqual([session?.name, session?.origin, session?.holds], ["mine", site.origin, ["cookies"]]);
    const scraped = await orb.run([
      ...["scrape", site.url("/members"), "--strategy", "http", "--session", session?.id ?? "", "--fields", "title"],
    ]);
    assert.equal(scraped.code, 0, scraped.stderr);
    assert.match(scraped.stdout, /Inside/);
  },
);
