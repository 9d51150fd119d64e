import assert from "node:assert/strict";
import { test } from "node:test";
import type { AlertView } from "../../src/orchestrator/alerts.ts";
import { AlertReceiver } from "../support/alert-receiver.ts";
import { Installation } from "./installation.ts";

test("orb alerts --test says whether alerts arrive, and orb alerts what was told", async () => {
  await using receiver = await AlertReceiver.start();
  await using installation = Installation.prepared(receiver.env);
  assert.equal((await installation.run(["alerts"])).stdout, "no alerts\n");
  const taken = await installation.run(["alerts", "--test"]);
  assert.deepEqual([taken.code, taken.stdout], [0, "the alert was accepted\n"], taken.stderr);
  receiver.answers.push(500);
  const refused = await installation.run(["alerts", "--test"]);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^the alert was rejected: .*500.*; it is retried automatically$/m);
  const listed = JSON.parse((await installation.run(["alerts", "--json"])).stdout) as AlertView[];
  assert.deepEqual(
    listed.map(({ kind, delivery, tries, id }) => [kind, delivery, tries, id]),
    receiver.received.map(({ id }, index) => ["test", index === 0 ? "delivered" : "waiting", 1, id]).toReversed(),
  );
  const table = (await installation.run(["alerts", "--kind", "test", "--limit", "1"])).stdout;
  assert.match(table, /^when +kind +about +delivery +message\n\S+ +test +test +waiting +Test alert: /);
  const wrong = await installation.run(["alerts", "--kind", "fire"]);
  assert.deepEqual([wrong.code, /kind/.test(wrong.stderr)], [2, true]);

  await using silent = Installation.prepared();
  const off = await silent.run(["alerts", "--test"]);
  assert.equal(off.code, 1);
  assert.match(off.stderr, /^error: alerts are not sent: APP_ALERT_WEBHOOK_URL is not set/);
});
