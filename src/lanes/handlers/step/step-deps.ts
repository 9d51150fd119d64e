import type { ArtifactStore } from "../../../artifacts/port.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { Seal } from "../../../base/seal.ts";
import type { HttpClient } from "../../../net/http-client.ts";
import type { Store } from "../../../store/ports/port.ts";
import type { ChildRuns } from "../../../workflows/child-runs.ts";
import type { StepKinds } from "../../../workflows/step-kind.ts";

export interface StepDeps {
  store: Store;
  clock: Clock;
  random: Random;
  http: HttpClient;
  artifacts: ArtifactStore;
  /** Unseals secrets in params. */
  seal: Seal;
  kinds: StepKinds;
  children: ChildRuns;
}
