/** The kinds of steps that definitions may name, for processes that execute none. */
import type { Clock } from "./base/clock.ts";
import type { Config } from "./config/options.ts";
import type { KnownKinds } from "./workflows/step-kind.ts";

/** Found out when somebody first asks: most commands never do. A user's module is loaded in a process that ends at once. */
export function knownKinds(config: Config, clock: Clock): () => Promise<KnownKinds> {
  let asked: Promise<KnownKinds> | null = null;
  return () => {
    asked ??= describe(config, clock).catch((error: unknown) => {
      // Whoever asks next may find it mended.
      asked = null;
      throw error;
    });
    return asked;
  };
}

async function describe(config: Config, clock: Clock): Promise<KnownKinds> {
  const { createStepKinds } = await import("./workflows/registry.ts");
  const { createImageInspector } = await import("./images/inspector.ts");
  // Nothing of it starts before a step is executed.
  const images = createImageInspector({ clock });
  return createStepKinds({ webhookSecret: config.webhookSecret, images }, await usersKinds(config, clock));
}

async function usersKinds(config: Config, clock: Clock) {
  if (config.handlers === null) return [];
  const { UserCode } = await import("./lanes/handlers/user/user-code.ts");
  return (await UserCode.describe(config.handlers, clock)).steps;
}
