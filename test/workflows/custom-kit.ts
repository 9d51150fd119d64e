import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { UserCode } from "../../src/lanes/handlers/user/user-code.ts";
import { loadUserCode } from "../../src/app/user-code.ts";
import type { StepKind } from "../../src/workflows/step-kind.ts";
import { testClient } from "../support/net.ts";
import { root } from "../support/source.ts";
import { StepHarness } from "./step-kit.ts";

/** What a module outside of the clone writes instead of `orbweaver/handlers` and `typebox`. */
export const IMPORTS = `
import { defineStep, skip } from "${pathToFileURL(join(root, "src/lanes/handlers/user/define.ts"))}";
import { Type } from "${pathToFileURL(join(root, "node_modules/typebox/build/index.mjs"))}";
`;

/** A step harness with a user module, loaded as the configuration says. */
export class CustomStepHarness extends StepHarness {
  readonly #client = testClient();
  #code: UserCode | null = null;

  static async open(module: string): Promise<CustomStepHarness> {
    const harness = new CustomStepHarness();
    try {
      await harness.#load(module);
      return harness;
    } catch (error) {
      await harness[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #load(module: string): Promise<void> {
    const path = join(this.dir, "steps.ts");
    writeFileSync(path, module);
    const { config } = loadConfig({
      env: { APP_HANDLERS: path, APP_ALLOW_PRIVATE_NETWORKS: "true" },
      cwd: this.dir,
    });
    this.#code = await loadUserCode(config, { clock: systemClock, http: this.#client, artifacts: this.artifacts });
  }

  get kinds(): readonly StepKind[] {
    return this.#code?.steps ?? [];
  }

  /** Resolves when a line of the log has these words. */
  async said(words: string): Promise<void> {
    while (!this.log.some((line) => line.includes(words))) await new Promise(setImmediate);
  }

  kind(name: string): StepKind {
    const kind = this.kinds.find((each) => each.kind === name);
    if (kind === undefined) throw new Error(`the module no longer has a step kind ${name}`);
    return kind;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#code?.stop();
    await this.#client[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}
