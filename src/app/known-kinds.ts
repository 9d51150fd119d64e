/** Step kinds and extractors that definitions and recipes may use, for processes that execute none. */
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/options.ts";
import type { KnownExtractor } from "../extract/extract-request.ts";
import type { UserCodeDescription } from "../lanes/handlers/user/user-code.ts";
import type { KnownKinds } from "../workflows/step-kind.ts";

interface KnownCode {
  kinds(): Promise<KnownKinds>;
  extractors(): Promise<readonly KnownExtractor[]>;
}

/** Loaded on first use: most commands never need it. A user's module is loaded in a short-lived process. */
export function knownCode(config: Config, clock: Clock): KnownCode {
  const user = once(() => describeUsers(config, clock));
  const kinds = once(async () => {
    const { createStepKinds } = await import("../workflows/registry.ts");
    const { createImageInspector } = await import("../images/inspector.ts");
    // Starts nothing until a step is executed.
    const images = createImageInspector({ clock });
    return createStepKinds({ webhookSecret: config.webhookSecret, images }, (await user())?.steps ?? []);
  });
  return { kinds, extractors: async () => (await user())?.extractors ?? [] };
}

async function describeUsers(config: Config, clock: Clock): Promise<UserCodeDescription | null> {
  if (config.handlers === null) return null;
  const { UserCode } = await import("../lanes/handlers/user/user-code.ts");
  return UserCode.describe(config.handlers, clock);
}

/** Caches the first success; after a failure the next caller tries again. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => {
    asked ??= ask().catch((error: unknown) => {
      asked = null;
      throw error;
    });
    return asked;
  };
}
