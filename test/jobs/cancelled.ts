import assert from "node:assert/strict";
import { connect } from "node:net";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import type { MisbehavingSite } from "../support/misbehaving-site.ts";
import type { TestServer } from "./kit.ts";

/** Promised: the answer comes within this time, and no request starts later than this after it. */
const PROMISED_MS = 1000;

function passBy(site: MisbehavingSite): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(site.origin).port), new URL(site.origin).hostname);
    socket.once("error", reject).once("close", () => setImmediate(resolve));
    socket.once("connect", () => socket.end());
  });
}

/** Cancels, and holds the run to everything that is promised from then on. Gives the milliseconds of the answer. */
export async function cancelled(server: TestServer, site: MisbehavingSite, id: string): Promise<number> {
  const asked = Date.now();
  const answer = await server.api.post(`/jobs/runs/${id}/cancel`);
  const acknowledged = Date.now();
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json<RunView>().status, "cancelled");
  await site.when(() => site.open === 0, "what was under way is dropped");
  await new Promise((resolve) => setTimeout(resolve, PROMISED_MS));
  // What was sent by then may have to be read yet: whoever comes after it is read after it.
  await passBy(site);
  const begun = site.visits.length;
  // Long enough for whatever goes on to begin something.
  await new Promise((resolve) => setTimeout(resolve, PROMISED_MS));
  assert.deepEqual(
    site.visits.slice(begun).map(({ path, at }) => `${path} ${at - acknowledged} ms later`),
    [],
  );
  const run = await server.show(id);
  assert.equal(run.status, "cancelled");
  assert.ok(run.progress < 100, "it shows how far it had come");
  assert.deepEqual(await server.results(id), [], "no result afterwards");
  assert.equal((await server.task(id)).status, "cancelled");
  const events = await server.events(id);
  const ends = events.filter(({ message }) => /^Run (?:completed|failed|cancelled)/.test(message));
  assert.deepEqual(
    ends.map(({ message }) => message),
    ["Run cancelled"],
  );
  assert.equal(events.at(-1)?.message, "Run cancelled", "nothing follows the last word");
  const again = await server.api.post(`/jobs/runs/${id}/cancel`);
  assert.deepEqual([again.status, again.json<RunView>().status], [200, "cancelled"], "twice is no mistake");
  assert.equal((await server.events(id)).length, events.length, "and tells nothing twice");
  return acknowledged - asked;
}
