import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Workshop } from "./kit.ts";

const SECRET = "s3cret-of-ana";
const KEY = "k3y-of-bob";
const PIN = 918_273;

interface Seen {
  path: string;
  user: string | null;
  key: string | null;
}

/** Answers whoever shows the password, and remembers what it was shown. */
class Site implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Site> {
    const server = createServer((request, response) => {
      const seen = seenBy(request);
      site.seen.push(seen);
      request.resume();
      const isLabel = seen.path.startsWith("/label");
      response.writeHead(seen.user === `ana:${SECRET}` || seen.key === KEY ? 200 : 401, {
        "content-type": isLabel ? "application/json" : "text/html",
      });
      response.end(isLabel ? '{"label": "cat", "score": 1}' : `<title>${seen.path}</title><p>${seen.path}`);
    });
    const site = new Site(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return site;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  address(path: string): string {
    return `http://ana:${SECRET}@${this.host}${path}`;
  }

  asked(path: string): Seen[] {
    return this.seen.filter((one) => one.path === path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function seenBy({ headers, url = "" }: IncomingMessage): Seen {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? "")?.[1];
  return {
    path: url,
    user: basic === undefined ? null : Buffer.from(basic, "base64").toString(),
    key: (headers["x-key"] as string | undefined) ?? null,
  };
}

const definitionOf = (site: Site) => ({
  name: "Secrets",
  params: {
    type: "object",
    properties: {
      hook: { type: "string", default: site.address("/default") },
      key: { type: "string", writeOnly: true },
      pin: { type: "integer", writeOnly: true },
      fallback: { type: "string", writeOnly: true, default: `${KEY}-default` },
      keys: { type: "array", items: { type: "string", writeOnly: true } },
    },
    required: ["key"],
  },
  steps: [
    { name: "page", task_type: "scrape", params: { urls: [site.address("/page")] } },
    { name: "files", task_type: "download", params: { urls: [site.address("/a"), site.address("/b")] } },
    {
      name: "labels",
      task_type: "label",
      params: { endpoint: { url: site.address("/label"), send: "item" } },
      dependencies: ["files"],
    },
    {
      name: "headed",
      task_type: "scrape",
      params: { url: `http://${site.host}/headed`, headers: { "x-key": "${{ params.key }}" } },
    },
    {
      name: "crawl",
      task_type: "crawl",
      params: { url: `http://${site.host}/crawl`, max_depth: 0, headers: { "x-key": KEY } },
    },
    {
      name: "call",
      task_type: "webhook",
      params: { url: site.address("/call"), headers: { "x-key": "${{ params.key }}" } },
    },
    {
      name: "default",
      task_type: "webhook",
      params: { url: "${{ params.hook }}", headers: { "x-key": "${{ params.fallback }}" } },
    },
    {
      name: "each",
      task_type: "webhook",
      for_each: { in: [site.address("/each/1"), site.address("/each/2")] },
      params: { url: "${{ item }}", headers: { "x-key": "${{ params.pin }}-" } },
    },
    {
      name: "keys",
      task_type: "webhook",
      for_each: { in: "${{ params.keys }}" },
      params: { url: site.address("/keys"), headers: { "x-key": "${{ item }}" } },
    },
  ],
});

const PARAMS = { key: KEY, pin: PIN, keys: [`${KEY}-1`, `${KEY}-2`] };

const holds = (text: string | Buffer) => [SECRET, KEY, String(PIN)].filter((secret) => text.includes(secret));

/** What users can see of a run, as text. */
async function shown(shop: Workshop, id: string): Promise<string> {
  const { api } = shop.server;
  const paths = [
    `/workflows/${id}`,
    `/workflows/${id}/tasks`,
    `/workflows/${id}/tasks/each/entries`,
    `/workflows/${id}/tasks/keys/entries`,
    `/workflows/${id}/tasks/files`,
    `/jobs/runs/${id}`,
    `/jobs/runs/${id}/recipe`,
    `/jobs/runs/${id}/events`,
  ];
  const texts: string[] = [];
  for (const path of paths) {
    const answer = await api.get(path);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    texts.push(answer.text);
  }
  return texts.join("\n");
}

test("credentials in addresses and write-only params reach the steps, and nobody else", async () => {
  await using site = await Site.open();
  await using shop = await Workshop.open();
  const { api } = shop.server;
  const definition = definitionOf(site);
  const created = await api.post("/workflows", { definition, params: PARAMS });
  assert.equal(created.status, 201, created.text);
  assert.deepEqual(holds(created.text), [], "the answer to who has created it");
  const { id } = created.json<{ id: string }>();
  const { states, steps } = await shop.finished(id);
  const failures = [...steps.values()].map(({ name, task }) => [name, task.failure?.message]);
  assert.deepEqual(new Set(Object.values(states)), new Set(["completed"]), JSON.stringify(failures));
  for (const path of ["/page", "/a", "/b", "/label", "/call", "/default", "/each/1", "/each/2", "/keys"])
    assert.equal(site.asked(path)[0]?.user, `ana:${SECRET}`, path);
  for (const path of ["/call", "/headed", "/crawl"]) assert.equal(site.asked(path)[0]?.key, KEY, path);
  assert.equal(site.asked("/default")[0]?.key, `${KEY}-default`);
  assert.equal(site.asked("/each/1")[0]?.key, `${PIN}-`);
  assert.deepEqual(
    site
      .asked("/keys")
      .map(({ key }) => key)
      .toSorted(),
    PARAMS.keys,
  );
  const text = await shown(shop, id);
  assert.deepEqual(holds(text), []);
  assert.ok(
    text.includes(`http://***@${site.host}/call`) && text.includes('"key":"***"'),
    "it says that there is something",
  );
  assert.deepEqual(
    (await shop.items(steps.get("files")!)).map(({ url }) => url),
    [`http://${site.host}/a`, `http://${site.host}/b`],
  );

  // What is shown may be sent back for a run of the same: it stands for what is there.
  const seen = (await api.get(`/workflows/${id}`)).json<{ definition: object; params: object }>();
  const again = await api.post(`/workflows/${id}/rerun`, { definition: seen.definition, params: seen.params });
  assert.equal(again.status, 201, again.text);
  const rerun = await shop.finished(again.json<{ id: string }>().id);
  assert.deepEqual(new Set(Object.values(rerun.states)), new Set(["completed"]));
  assert.equal(site.asked("/call").at(-1)?.key, KEY);

  // What is shown means nothing to a new workflow.
  const refused = await api.post("/workflows", { definition: seen.definition, params: seen.params });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /params\.key|steps\[0\]\.params\.urls\[0\]/);

  // A saved workflow and a template.
  const job = await api.post("/jobs", { kind: "workflow", name: "Saved", workflow: { definition, params: PARAMS } });
  assert.equal(job.status, 201, job.text);
  const { id: jobId } = job.json<{ id: string }>();
  const renamed = await api.call("PATCH", `/jobs/${jobId}`, { name: "Renamed" });
  assert.equal(renamed.status, 200, renamed.text);
  const template = await api.call("PUT", "/workflows/templates/secrets", { definition });
  assert.ok(template.status < 300, template.text);
  for (const answer of [job, renamed, template, await api.get(`/jobs/${jobId}`)])
    assert.deepEqual(holds(answer.text), []);
  const started = await api.post(`/jobs/${jobId}/runs`);
  assert.equal(started.status, 201, started.text);
  const saved = await shop.finished(started.json<{ id: string }>().id);
  assert.deepEqual(new Set(Object.values(saved.states)), new Set(["completed"]), JSON.stringify(saved.states));

  await shop.server.stop();
  for (const { path, bytes } of shop.server.stored()) assert.deepEqual(holds(bytes), [], path);
  assert.deepEqual(holds(shop.server.log.join("\n")), []);
  await shop.server.start();
});

test("what an earlier version stored in clear is sealed when the new one has started [slow]", async () => {
  await using site = await Site.open();
  await using shop = await Workshop.open();
  const { server: testServer } = shop;
  const params = { key: KEY, pin: PIN, keys: [], fallback: KEY };
  const created = await testServer.api.post("/workflows", { definition: definitionOf(site), params, start: false });
  const { id } = created.json<{ id: string }>();
  const path = testServer.config.database.kind === "sqlite" ? testServer.config.database.path : "";
  await testServer.stop();
  const db = new DatabaseSync(path);
  const before = {
    definition: { ...JSON.parse(created.text).definition, ...stepsInClear(definitionOf(site)) },
    params,
    template: null,
  };
  db.prepare("UPDATE workflow_snapshots SET snapshot = ?").run(JSON.stringify(before));
  db.prepare("DELETE FROM meta WHERE name = 'sealed_until'").run();
  db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  await testServer.start();
  await shop.until(async () => (await shop.store.unsealedTexts()) === null, "all is sealed");
  const text = await testServer.api.get(`/workflows/${id}`);
  assert.deepEqual(holds(text.text), []);
  const stored = JSON.stringify(await shop.store.workflowSnapshot(id));
  assert.deepEqual(holds(stored), []);
  await testServer.api.post(`/workflows/${id}/start`);
  const { states } = await shop.finished(id);
  assert.equal(states["call"], "completed");
  assert.equal(site.asked("/call")[0]?.key, KEY);
});

function stepsInClear({ params, steps }: ReturnType<typeof definitionOf>) {
  return {
    params,
    steps: steps.map((step) => ({
      max_retries: 3,
      timeout: null,
      estimated_duration: null,
      when: null,
      ...step,
      dependencies: step.name === "labels" ? [1] : [],
      for_each:
        "for_each" in step && step.for_each !== undefined
          ? { ...step.for_each, concurrency: 4, on_error: "finish" }
          : null,
    })),
  };
}
