/** What every tool does and refuses, whatever way it is called by. */
import assert from "node:assert/strict";
import type { Target } from "../chaos/target.ts";
import { type Agent, PAGES, type Told } from "./kit.ts";

export const TOOL_NAMES = [
  "changes",
  "crawl_results",
  "crawl_start",
  "crawl_status",
  "extract_learn",
  "extract_preview",
  "run_cancel",
  "scrape",
  "search",
  "sites",
  "workflow_start",
  "workflow_status",
];

interface Next {
  tool: string;
  arguments: Record<string, unknown>;
}

const recordsOf = ({ data }: Told) => data["records"] as Record<string, unknown>[];
const RULES = { name: "b", price: { css: "i", type: "number" } };

export async function everyToolIsThere(agent: Agent): Promise<void> {
  const { tools } = await agent.client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), TOOL_NAMES);
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    assert.ok((description ?? "").length > 40 && (description ?? "").length < 400, name);
    assert.equal(inputSchema.additionalProperties, false, `${name} refuses what it does not know`);
    assert.ok(outputSchema !== undefined, name);
    for (const [field, schema] of Object.entries(inputSchema.properties ?? {}))
      assert.ok("description" in (schema as object), `${name}.${field} is described`);
    const reads = /_status$|_results$|^sites$|^search$|^changes$|_preview$|_learn$/.test(name);
    assert.equal(annotations?.readOnlyHint, reads, name);
    assert.equal(annotations?.destructiveHint, name === "run_cancel", name);
  }
}

export async function onePageIsScraped(agent: Agent, target: Target): Promise<void> {
  const told = await agent.ok("scrape", { url: target.url("/p/1") });
  const [record] = recordsOf(told);
  assert.equal(told.data["status"], "completed");
  assert.equal(record?.["title"], "Article 1");
  assert.match(String(record?.["markdown"]), /^# Article 1\n\nPage 1 has a line number 0/);
  assert.ok(told.text.includes("title: Article 1\n") && told.text.includes("\n# Article 1\n"), told.text);
  assert.equal(record?.["text"], undefined, "the markdown says the same");
  const fields = await agent.ok("scrape", {
    url: target.url("/shop"),
    items: "li.t",
    fields: { ...RULES, colour: "em" },
  });
  assert.deepEqual(
    recordsOf(fields).map(({ name, price }) => [name, price]),
    [
      ["Thing", 7.5],
      ["Thing", 8],
      ["Thing", null],
    ],
  );
  assert.deepEqual(fields.data["notes"], ["found nothing for colour: extract_preview shows why"]);
}

export async function whatCannotBeScrapedIsSaid(agent: Agent, target: Target): Promise<void> {
  assert.match(await agent.refused("scrape", { url: "nonsense" }), /url: expected an absolute http or https URL/);
  assert.match(await agent.refused("scrape", {}), /url: .*(?:missing|required)/i);
  assert.match(
    await agent.refused("scrape", { url: "https://a.test", depth: 2, max_chars: 5.5 }),
    /depth: .*unknown.*max_chars|max_chars.*depth/is,
  );
  assert.match(
    await agent.refused("scrape", { url: target.url("/gone") }),
    /http_not_found.*no such page.*Run [0-9a-f-]{36}/i,
  );
  assert.match(await agent.refused("scrape", { url: target.url("/private") }), /robots.*Use another page/);
  assert.match(await agent.refused("scrape", { url: "http://10.0.0.1/" }), /APP_ALLOW_PRIVATE_NETWORKS/);
}

/** A site that asks for patience is told of with the time, and given up by cancelling. */
export async function aHeldSiteIsTold(agent: Agent, target: Target): Promise<void> {
  // However long the machine takes until the site has asked for patience: the same page is asked for until then.
  let held = await agent.ok("scrape", { url: target.url("/busy", 1), wait_seconds: 3 });
  while (!/until 20/.test(String(held.data["message"]))) {
    await agent.ok("run_cancel", { run_id: held.data["run_id"] });
    held = await agent.ok("scrape", { url: target.url("/busy", 1), wait_seconds: 3 });
  }
  assert.match(String(held.data["message"]), /not done yet: .*until 20\d\d-/);
  assert.deepEqual((held.data["next"] as Next).tool, "crawl_status");
  const { data, text } = await agent.ok("sites", { site: target.sites[1] ?? "" });
  const [site] = data["sites"] as { waiting: string; state: string }[];
  assert.match(site?.waiting ?? "", /until 20\d\d-/, text);
  const cancelled = await agent.ok("run_cancel", { run_id: held.data["run_id"] });
  assert.equal(cancelled.data["status"], "cancelled");
  assert.match(
    await agent.refused("run_cancel", { run_id: "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c" }),
    /no run.*crawl_status without run_id lists/,
  );
}

/** Gives the id of a crawl that has ended. */
export async function aCrawlIsFollowedToItsEnd(agent: Agent, target: Target): Promise<string> {
  const started = await agent.ok("crawl_start", { url: target.url("/"), max_depth: 1, max_pages: PAGES });
  const runId = String(started.data["run_id"]);
  const messages: string[] = [];
  const look = () =>
    agent.call(
      "crawl_status",
      { run_id: runId, wait_seconds: 60 },
      { onprogress: ({ message = "" }) => messages.push(message) },
    );
  let told = await look();
  // A busy machine may take longer than one call waits.
  const isRunning = () => ["pending", "running"].includes((told.data["run"] as { status: string }).status);
  while (isRunning()) told = await look();
  const run = told.data["run"] as { status: string; pages: { got: number } };
  assert.deepEqual([run.status, run.pages.got], ["completed", PAGES], told.text);
  assert.match(messages.at(-1) ?? "", /^completed: 12 of 12 pages$/, "who asks is told how it goes");
  const list = await agent.ok("crawl_status");
  assert.ok((list.data["runs"] as { run_id: string }[]).some(({ run_id: id }) => id === runId));
  assert.match(await agent.refused("crawl_status", { run_id: "nonsense" }), /crawl_status without run_id lists/);
  assert.match(await agent.refused("crawl_start", { url: [], max_pages: 0 }), /url.*max_pages|max_pages.*url/s);
  assert.match(
    await agent.refused("crawl_start", { url: target.url("/"), include: ["["], fields: { a: { css: "[" } } }),
    /fields\.a/,
  );
  return runId;
}

export async function resultsAreReadInParts(agent: Agent, runId: string): Promise<void> {
  const titles = await agent.ok("crawl_results", { run_id: runId, only: ["title"] });
  assert.equal(recordsOf(titles).length, PAGES);
  assert.deepEqual(Object.keys(recordsOf(titles)[3] ?? {}), ["title"]);
  const seen: string[] = [];
  let cut: Next | undefined;
  for (
    let part = await agent.ok("crawl_results", { run_id: runId, max_chars: 6000 });
    ;
    part = await agent.ok("crawl_results", { ...(part.data["next"] as Next).arguments, max_chars: 6000 })
  ) {
    seen.push(...recordsOf(part).map(({ url }) => String(url)));
    if (part.data["next"] === null) break;
    assert.ok(part.text.includes("next: call crawl_results with {"), part.text);
  }
  assert.equal(new Set(seen).size, PAGES, "each record once");
  assert.equal(seen.length, PAGES);
  // A text that is too long for an answer is put together from its parts.
  const whole = await agent.ok("crawl_results", { run_id: runId, only: ["markdown"], max_chars: 100_000 });
  const expected = String(recordsOf(whole)[1]?.["markdown"]);
  const small = await agent.ok("crawl_results", { run_id: runId, only: ["markdown"], max_chars: 2000 });
  const second = await agent.ok("crawl_results", { ...(small.data["next"] as Next).arguments, max_chars: 2000 });
  let text = String(recordsOf(second)[0]?.["markdown"]);
  cut = (second.data["cut"] as { rest: Next }[])[0]?.rest;
  assert.ok(cut !== undefined, second.text);
  while (cut !== undefined && cut !== null) {
    const part = await agent.ok("crawl_results", { ...cut.arguments, max_chars: 2000 });
    text += (part.data["rest"] as { value: string }).value;
    cut = (part.data["next"] as Next | null) ?? undefined;
  }
  assert.equal(text, expected);
  assert.match(await agent.refused("crawl_results", { run_id: runId, cursor: "nonsense" }), /cursor: is not a cursor/);
  assert.match(await agent.refused("crawl_results", { run_id: "x" }), /crawl_status without run_id lists/);
}

export async function rulesAreTriedOut(agent: Agent, target: Target): Promise<void> {
  const live = await agent.ok("extract_preview", { url: target.url("/shop"), items: "li.t", fields: RULES });
  assert.equal(live.data["record_count"], 3);
  assert.equal((live.data["warnings"] as { found: string }[])[0]?.found, "cheap", live.text);
  const html = await agent.ok("extract_preview", {
    html: "<h1>Here</h1>",
    fields: { title: { css: "h1" }, price: { css: "i", required: true } },
  });
  assert.equal((html.data["errors"] as { field: string }[])[0]?.field, "price", html.text);
  assert.match(await agent.refused("extract_preview", {}), /url/);
  assert.match(await agent.refused("extract_preview", { url: target.url("/gone") }), /http_not_found.*no such page/i);
  assert.match(await agent.refused("extract_preview", { html: "<p>", fields: { a: { css: "[" } } }), /fields\.a/);
}

export async function rulesAreLearned(agent: Agent, target: Target): Promise<void> {
  const shop = await agent.ok("extract_preview", { url: target.url("/shop"), items: "li.t", fields: { name: "b" } });
  const [first, second] = recordsOf(shop).map(({ name }) => String(name));
  const learned = await agent.ok("extract_learn", { urls: [target.url("/shop")], examples: { name: [first, second] } });
  assert.deepEqual(learned.data["problems"], [], learned.text);
  const { items, fields } = learned.data as { items: unknown; fields: Record<string, unknown> };
  const again = await agent.ok("extract_preview", {
    url: target.url("/shop"),
    ...(items === null ? {} : { items }),
    fields,
  });
  assert.ok(JSON.stringify(recordsOf(again)).includes(second!), again.text);
  const missing = await agent.ok("extract_learn", {
    urls: [target.url("/shop")],
    examples: { name: "not there at all" },
  });
  assert.match((missing.data["problems"] as string[])[0]!, /^name: the page does not contain "not there at all"/);
  assert.match(
    await agent.refused("extract_learn", { urls: [target.url("/gone")], examples: { a: "b" } }),
    /pages\[0\]/,
  );
}

/** Gives the address of the file that it made. */
export async function aWorkflowMakesAFile(agent: Agent, target: Target): Promise<string> {
  const definition = {
    name: "Table",
    steps: [
      { name: "read", task_type: "scrape", params: { url: target.url("/shop"), items: "li.t", fields: RULES } },
      { name: "table", task_type: "export", params: { format: "csv" }, dependencies: ["read"] },
    ],
  };
  const started = await agent.ok("workflow_start", { definition });
  const workflowId = String(started.data["workflow_id"]);
  const look = () => agent.ok("workflow_status", { workflow_id: workflowId, wait_seconds: 60 });
  let done = await look();
  while ((done.data["workflow"] as { status: string }).status === "running") done = await look();
  assert.equal((done.data["workflow"] as { status: string }).status, "completed", done.text);
  const steps = done.data["steps"] as { name: string; files: { uri: string }[]; run_ids: string[] }[];
  assert.deepEqual(
    steps.map(({ name }) => name),
    ["read", "table"],
  );
  assert.equal(recordsOf(await agent.follow(done)).length, 3, "the records of its run");
  const list = await agent.ok("workflow_status");
  assert.ok((list.data["workflows"] as { workflow_id: string }[]).some(({ workflow_id: id }) => id === workflowId));
  assert.match(list.text, /name: article-dataset\n/);
  assert.match(
    await agent.refused("workflow_start", { template: "nonsense" }),
    /workflow_status without workflow_id lists the templates/,
  );
  assert.match(
    await agent.refused("workflow_start", { definition: { name: "A", steps: [{ name: "a", task_type: "no" }] } }),
    /steps\[0\]\.task_type/,
  );
  assert.match(
    await agent.refused("workflow_status", { workflow_id: "x" }),
    /workflow_status without workflow_id lists/,
  );
  assert.match(await agent.refused("sites", { site: "unseen.test" }), /sites without site lists/);
  return steps[1]?.files[0]?.uri ?? "";
}

export async function resourcesAreRead(agent: Agent, runId: string, file: string): Promise<void> {
  const { resources } = await agent.client.listResources();
  assert.ok(resources.some(({ uri }) => uri === `orb://runs/${runId}/results`));
  const { resourceTemplates } = await agent.client.listResourceTemplates();
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    [
      "orb://runs/{run_id}/results",
      "orb://runs/{run_id}/results{?cursor}",
      "orb://artifacts/{artifact_id}",
      "orb://artifacts/{artifact_id}{?offset}",
    ],
  );
  const seen: string[] = [];
  for (let uri: string | undefined = `orb://runs/${runId}/results`; uri !== undefined;) {
    const text: string = await readText(agent, uri);
    assert.ok(text.length <= 20_000);
    seen.push(...[...text.matchAll(/^title: (.*)$/gm)].map((match) => match[1] as string));
    uri = /^next: read (\S+)$/m.exec(text)?.[1];
  }
  assert.equal(new Set(seen).size, PAGES);
  assert.match(await readText(agent, file), /^url,name,price\r\n[^\n]*,Thing,7\.5\r\n/);
  assert.match(await readText(agent, `${file}?offset=5`), /^ame,price\r\n/);
  await assert.rejects(readText(agent, "orb://artifacts/nonsense"), /no artifact/);
  await assert.rejects(readText(agent, "orb://runs/nonsense/results"), /crawl_status without run_id/);
}

async function readText(agent: Agent, uri: string): Promise<string> {
  const [first] = (await agent.client.readResource({ uri })).contents;
  assert.ok(first !== undefined && "text" in first, uri);
  return first.text;
}

/** A page that takes too long is left to itself, or not wanted any more. */
export async function waitingEndsBeforeTheRun(agent: Agent, target: Target): Promise<void> {
  const late = await agent.ok("scrape", { url: target.url("/never/1"), wait_seconds: 0.2 });
  assert.match(late.text, /not done yet.*the run continues/);
  assert.equal((late.data["next"] as Next).tool, "crawl_status");
  const before = target.hits.length;
  const stop = new AbortController();
  const call = agent.call("scrape", { url: target.url("/never/2") }, { signal: stop.signal });
  await target.when(() => target.hits.length > before && target.count("/never/2") === 1, "the page is asked for");
  stop.abort("not wanted any more");
  await assert.rejects(call);
  await agent.ok("run_cancel", { run_id: late.data["run_id"] });
}
