import { systemClock } from "../../src/base/clock.ts";
import { createImageInspector } from "../../src/images/inspector.ts";
import type { StepKindSettings } from "../../src/workflows/registry.ts";

/** For tests that look at the built-in kinds of steps without executing them: nothing is started. */
export const kindSettings: StepKindSettings = {
  webhookSecret: null,
  images: createImageInspector({ clock: systemClock }),
};
