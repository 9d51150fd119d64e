import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { Orb, until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { root } from "../support/source.ts";
import { hasScript } from "./screen.ts";

const PAGE = html("<title>A page</title><p>Some words.</p>");
const ENV = { APP_HTTP_TIMEOUT_SECONDS: "600", APP_SHUTDOWN_GRACE_SECONDS: "600", APP_PORT: "0", APP_UP_WORKERS: "0" };

/** A site whose page comes when it is let go. */
async function gated() {
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  const site = await MisbehavingSite.start({
    "/": async (visit, response, own) => {
      await isOpen;
      return PAGE(visit, response, own);
    },
  });
  return { site, open };
}

/** Starts a run at a running server, and waits until its page is in flight. */
async function inFlight(url: string, site: MisbehavingSite): Promise<string> {
  const answer = await fetch(`${url}/scraping/async-scrape`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: site.url("/"), strategy: "http" }),
  });
  assert.equal(answer.status, 202, await answer.clone().text());
  await site.visited("/");
  return ((await answer.json()) as { task_id: string }).task_id;
}

async function assertLeftProperly(orb: Orb, id: string): Promise<void> {
  assert.equal((await orb.json<{ status: string }>("runs", "show", id)).status, "completed");
  const workers = await orb.json<{ state: string }[]>("workers", "list", "--all");
  assert.deepEqual(
    workers.map(({ state }) => state),
    workers.map(() => "stopped"),
  );
  assert.ok(workers.length > 0);
  await orb.audit();
}

describe("one Ctrl-C that arrives twice", { concurrency: 2 }, () => {
  for (const command of ["serve", "up"])
    test(`orb ${command} finishes what is in flight, and its worker leaves properly [slow]`, async () => {
      const { site, open } = await gated();
      await using _ = site;
      await using orb = new Orb({ ...ENV, ...(command === "up" ? { APP_UP_WORKERS: "1" } : {}) });
      const running = orb.start([command]);
      await running.said(command === "up" ? "all processes started" : "listening on");
      const url = /(http:\/\/127[^"\s]+)"/.exec(running.stderr)?.[1] ?? "";
      const id = await inFlight(url, site);
      running.kill("SIGINT");
      await running.said("stopping");
      running.kill("SIGINT");
      running.kill("SIGTERM");
      open();
      const { code, stderr } = await running.end();
      assert.equal(code, 0, stderr);
      assert.match(stderr, /stopped/);
      await assertLeftProperly(orb, id);
    });

  test("orb worker, orb crawl and orb queue run finish, too [slow]", async () => {
    for (const command of ["worker", "crawl", "queue run"]) {
      const { site, open } = await gated();
      await using _ = site;
      await using orb = new Orb(ENV);
      if (command !== "crawl") await orb.import([{ artifact_id: "a", url: site.url("/") }]);
      const words = command === "crawl" ? ["crawl", site.url("/"), "--strategy", "http"] : command.split(" ");
      const running = orb.start(words);
      await site.visited("/");
      if (command === "crawl") await running.said("0 of 1 known page");
      running.kill("SIGINT");
      await running.said("stopping");
      running.kill("SIGINT");
      open();
      const { code, signal, stderr } = await running.end();
      assert.ok(code === 0 || command === "crawl", `${command}: ${code} ${stderr}`);
      assert.equal(signal, null, command);
      const workers = await orb.json<{ state: string }[]>("workers", "list", "--all");
      assert.deepEqual(
        workers.map(({ state }) => state),
        ["stopped"],
        command,
      );
      await orb.audit();
    }
  });

  test("pressed again after a while, it hurries [slow]", async () => {
    const { site } = await gated();
    await using _ = site;
    await using orb = new Orb(ENV);
    const running = orb.start(["serve"]);
    await running.said("listening on");
    await inFlight(/(http:\/\/127[^"\s]+)"/.exec(running.stderr)?.[1] ?? "", site);
    assert.equal((await running.pressed("SIGINT")).code, 1);
  });
});

describe("npm start on a terminal", { skip: !hasScript && "there is no script(1)" }, () => {
  test("Ctrl-C, which npm forwards once more, lets the run's page finish [slow]", async () => {
    const { site, open } = await gated();
    await using _ = site;
    await using orb = new Orb({ ...ENV, APP_LOG_LEVEL: "info" });
    const child = spawn("script", ["-qefc", "stty cols 120 rows 40; npm start", "/dev/null"], {
      cwd: root,
      env: {
        ...orb.env,
        PATH: [...(process.env["PATH"] ?? "").split(delimiter), dirname(process.execPath)].join(delimiter),
        APP_DATA_DIR: join(orb.dir, "data"),
        APP_DATABASE_URL: `sqlite:${orb.database}`,
        TERM: "xterm",
        NO_COLOR: "1",
        SHELL: "/bin/sh",
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (more: string) => (text += more));
    const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
    try {
      const listens = () => /listens on (http:\/\/\S+)/.exec(text)?.[1];
      const url = await until(listens, "it listens");
      const id = await inFlight(url, site);
      child.stdin.write("\x03");
      await until(() => text.includes("stopping"), "it stops");
      open();
      await ended;
      assert.match(text, /info +stopped/);
      await assertLeftProperly(orb, id);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
