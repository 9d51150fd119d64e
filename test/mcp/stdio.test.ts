import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Orb } from "../chaos/orb.ts";
import * as every from "./every-tool.ts";
import { comeOverHttp, openMagazine, startOverStdio } from "./kit.ts";

/** Nothing leaves this machine, whatever a test asks for. */
const LOOPBACK = { APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.1/32" };

const TOKEN = "a-token-of-good-length-4711";

describe("orb mcp", () => {
  test("an agent that starts it uses every tool, on the database here", async () => {
    await using target = await openMagazine();
    await using orb = new Orb(LOOPBACK);
    await using started = await startOverStdio(orb, { modern: false });
    const { agent } = started;
    await every.everyToolIsThere(agent);
    await every.onePageIsScraped(agent, target);
    await every.whatCannotBeScrapedIsSaid(agent, target);
    await every.rulesAreTriedOut(agent, target);
    await every.rulesAreLearned(agent, target);
    const runId = await every.aCrawlIsFollowedToItsEnd(agent, target);
    await every.resultsAreReadInParts(agent, runId);
    await every.resourcesAreRead(agent, runId, await every.aWorkflowMakesAFile(agent, target));
    await every.waitingEndsBeforeTheRun(agent, target);
    await target.when(() => target.open === 0, "what was cancelled is dropped");
  });

  test("a server with a token is used by whoever has it, over HTTP and through orb mcp, and by nobody else", async () => {
    await using target = await openMagazine();
    await using there = new Orb({ ...LOOPBACK, APP_API_TOKEN: TOKEN });
    await using here = new Orb(LOOPBACK);
    const server = there.start(["serve", "--port", "0"]);
    await server.said("listening on");
    const url = /listening on (http:\/\/[^"]+)/.exec(server.stderr)?.[1] ?? "";
    for (const authorization of [undefined, "Bearer wrong"]) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const refused = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: "{}",
      });
      assert.equal(refused.status, 401);
      assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer realm="orb"/);
      assert.equal(((await refused.json()) as { code: string }).code, "unauthorized");
      await assert.rejects(comeOverHttp(url, { modern: authorization === undefined }, headers));
    }
    await using over = await comeOverHttp(url, { modern: true }, { authorization: `Bearer ${TOKEN}` });
    await every.onePageIsScraped(over, target);
    await using through = await startOverStdio(here, { modern: true }, ["--url", url], { APP_API_TOKEN: TOKEN });
    await every.onePageIsScraped(through.agent, target);
    const { data } = await through.agent.ok("crawl_status");
    assert.equal((data["runs"] as unknown[]).length, 4, "the server has the runs of both");
    await using wrong = await startOverStdio(here, { modern: true }, ["--url", url], {
      APP_API_TOKEN: "wrong-wrong-wrong-wrong",
    });
    assert.match(await wrong.agent.refused("sites"), /needs a valid key: .* APP_API_TOKEN of orb mcp/);
    await server.killed();
    assert.match(await through.agent.refused("sites"), /no answer from .*orb serve/i);
  });

  test("killed and started again, it goes on with the crawl that it had begun", async () => {
    await using target = await openMagazine();
    target.latencyMs = 150;
    await using orb = new Orb({ ...LOOPBACK, APP_MAX_PER_HOST: "1", APP_MIN_HOST_DELAY_MS: "100" });
    const first = await startOverStdio(orb, { modern: true });
    const begun = await first.agent.ok("crawl_start", { url: target.url("/"), max_depth: 1 });
    const runId = begun.data["run_id"];
    await target.when(() => target.hits.filter(({ answered }) => answered).length >= 4, "some pages are there");
    process.kill(first.pid, "SIGKILL");
    await first.agent.client.close();
    // The second is left as agents leave: its input ends.
    const second = await startOverStdio(orb, { modern: false });
    const known = target.hits.length;
    await target.when(() => target.hits.length >= known + 2, "the crawl goes on by itself");
    await second.agent.client.close();
    await using third = await startOverStdio(orb, { modern: true });
    const done = await third.agent.ok("crawl_status", { run_id: runId, wait_seconds: 100 });
    assert.equal((done.data["run"] as { status: string }).status, "completed", done.text);
    await every.resultsAreReadInParts(third.agent, String(runId));
    await third.agent.client.close();
    await orb.audit();
  });

  test("standard output is the protocol's alone, and the program ends with its input", async () => {
    await using orb = new Orb({ ...LOOPBACK, APP_LOG_LEVEL: "debug" });
    const hello = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    };
    const { code, stdout, stderr } = await orb.run(["mcp"], { input: `nonsense\n${JSON.stringify(hello)}\n` });
    assert.equal(code, 0, stderr);
    const lines = stdout.split("\n").filter((line) => line !== "");
    const answers = lines.map((line) => JSON.parse(line) as { id?: number; result?: { serverInfo: { name: string } } });
    assert.equal(answers.find(({ id }) => id === 1)?.result?.serverInfo.name, "orbweaver", stdout);
  });
});
