import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSeal } from "../../src/base/seal.ts";
import { FetchFailure } from "../../src/domain/run/failure.ts";
import type { BrowserAction } from "../../src/domain/page/page-options.ts";
import { openActions, sealActions } from "../../src/domain/page/secret-actions.ts";
import { withoutSecrets } from "../../src/domain/text/sealed-text.ts";
import { openSecrets, sealDefinition } from "../../src/domain/workflow/secrets/secrets.ts";

const seal = createSeal("a key that is long enough to be one of these");
const ORIGIN = "https://shop.example";
const typed: BrowserAction[] = [
  { type: "click", selector: "#password" },
  { type: "write", text: "pass-word", secret: true },
];

function sealed(actions: BrowserAction[], before: readonly BrowserAction[] = [], origin = ORIGIN) {
  const told: [number, string][] = [];
  const stored = sealActions(actions, {
    seal,
    origin,
    before,
    report: (index, message) => void told.push([index, message]),
  });
  return { stored, told };
}

const browser = (actions: BrowserAction[]) => ({ wait_for: null, block_resources: false, actions });

describe("secret texts that a browser types", { concurrency: true }, () => {
  test("are stored sealed, shown as ***, and opened for the page that they were given for", () => {
    const { stored, told } = sealed(typed);
    assert.deepEqual(told, []);
    assert.doesNotMatch(JSON.stringify(stored), /pass-word/);
    assert.deepEqual(withoutSecrets(stored)[1], { type: "write", text: "***", secret: true });
    assert.deepEqual(openActions(seal, browser(stored), `${ORIGIN}/login`)?.actions, typed);
  });

  test("are typed for no other origin", () => {
    const { stored } = sealed(typed);
    assert.throws(
      () => openActions(seal, browser(stored), "https://other.example/"),
      (error: unknown) =>
        error instanceof FetchFailure &&
        /browser\.actions\[1\] \(write\): its secret text was stored for https:\/\/shop\.example/.test(
          error.failure.message,
        ),
    );
    const moved = sealed(withoutSecrets(stored), stored, "https://other.example");
    assert.match(moved.told[0]?.[1] ?? "", /was stored for https:\/\/shop\.example: send the text itself/);
  });

  test("stay what they are while *** is sent back, also when actions are moved; elsewhere *** is refused", () => {
    const { stored } = sealed(typed);
    const back = withoutSecrets(stored);
    assert.deepEqual(sealed(back, stored), { stored, told: [] });
    assert.deepEqual(sealed([back[1]!, back[0]!], stored), { stored: [stored[1], stored[0]], told: [] });
    assert.deepEqual(
      sealed(back).told.map(([index]) => index),
      [1],
      "a clone has to be given it anew",
    );
    const shown = { type: "write", text: (stored[1] as { text: string }).text } as const;
    assert.equal(sealed([shown], stored).told.length, 1, "what is sealed does not become a plain text");
    assert.deepEqual(sealed([{ type: "write", text: "plain" }]).stored, [{ type: "write", text: "plain" }]);
  });

  test("are sealed in the steps of workflows, too", () => {
    const definition = {
      steps: [{ name: "in", task_type: "scrape", params: { url: ORIGIN, browser: { actions: typed } } }],
    };
    const report = () => assert.fail("nothing is wrong");
    const stored = sealDefinition(seal, () => ({}), definition, null, report);
    assert.doesNotMatch(JSON.stringify(stored), /pass-word/);
    const again = sealDefinition(seal, () => ({}), withoutSecrets(stored), stored, report);
    const params = openSecrets(seal, {}, again.steps[0]!.params as never);
    assert.deepEqual(params, definition.steps[0]!.params);
  });
});
