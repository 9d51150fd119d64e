/** Chooses the engine of a process. Part of the composition root. */
import type { Log } from "../base/log.ts";
import { mayBeAlive, ownIdentity } from "../base/machine.ts";
import { type Client, requireSqlite } from "./context.ts";
import { redisPrefix } from "./cluster.ts";
import type { Config } from "../config/options.ts";
import type { EngineRole, LaneHost, Timetable } from "../engine/port.ts";
import { type HurriedEngine, StandByEngine } from "../engine/stand-by.ts";
import type { Store } from "../store/ports/port.ts";

interface EngineParts {
  host: LaneHost;
  /** Time-based duties: the cluster's engine assigns them to one process. */
  timetable: Timetable;
  log: Log;
  /** This process created work, and runs it only when no other worker does. */
  standBy: boolean;
  /** Works only while no dedicated process does, also with a single engine. */
  givesWay: boolean;
  onRole(role: EngineRole): void;
  /** Whether this process runs the singleton duties. */
  onLead(leads: boolean): void;
}

interface ChosenEngine {
  kind: "embedded" | "bullmq";
  engine: HurriedEngine;
}

/** On SQLite one process works and leads; on Postgres all work, and one of them leads. */
export async function chooseEngine(config: Config, client: Client, parts: EngineParts): Promise<ChosenEngine> {
  const { store, clock, random, cluster } = client;
  const { host, timetable, log, onLead, givesWay } = parts;
  let standBy: StandByEngine | null = null;
  const onRole = (role: EngineRole) => parts.onRole(standBy?.visibleRole(role) ?? role);
  const common = {
    store,
    host,
    clock,
    random,
    log,
    identity: ownIdentity(),
    mayBeAlive,
    leaseTtlMs: config.leaseTtlMs,
    heartbeatMs: config.heartbeatMs,
    graceMs: config.shutdownGraceMs,
    maxActiveLanes: config.maxWorkers,
  };
  if (cluster === null) {
    const { EmbeddedEngine } = await import("../engine/embedded/engine.ts");
    const { createLink, socketPath, watchEngine } = await import("../engine/embedded/link.ts");
    const engine = new EmbeddedEngine({
      ...common,
      link: createLink(socketPath(requireSqlite(config))),
      watch: watchEngine,
      onRole: (role) => {
        onLead(role === "engine");
        onRole(role);
      },
    });
    if (!givesWay) return { kind: "embedded", engine };
    standBy = new StandByEngine({
      engine,
      clock,
      log,
      onRole,
      givesWay,
      othersWork: () => mayHaveOtherWorkers(client),
    });
    return { kind: "embedded", engine: standBy };
  }
  const { BullmqEngine } = await import("../engine/bullmq/engine.ts");
  const { redisUrl } = cluster;
  const engine = new BullmqEngine({ ...common, timetable, redisUrl, prefix: redisPrefix(store), onRole, onLead });
  if (!parts.standBy && !givesWay) return { kind: "bullmq", engine };
  const othersWork = () => (givesWay ? mayHaveOtherWorkers(client) : hasActiveWorker(store));
  standBy = new StandByEngine({ engine, clock, log, onRole, givesWay, othersWork });
  return { kind: "bullmq", engine: standBy };
}

const MOST = 1000;

/** A dead process of this machine is detected at once, others after missed heartbeats. */
export async function hasActiveWorker(store: Store): Promise<boolean> {
  const workers = await store.workers({ live: true, limit: MOST });
  return workers.some(({ state, role, identity }) => state === "working" && role === "engine" && mayBeAlive(identity));
}

/** Long-lived commands, which come back after a restart. */
const SERVICES = new Set(["serve", "worker", "queue"]);
const RESTART_MS = 30_000;

/** Whether a process other than an agent's tool works, could work, or was restarted a moment ago. */
async function mayHaveOtherWorkers({ store, clock }: Pick<Client, "store" | "clock">): Promise<boolean> {
  const workers = await store.workers({ limit: MOST });
  return workers.some(({ command, state, identity, stoppedAt, heartbeatAt }) => {
    if (command === "mcp" || state === "draining" || state === "drained") return false;
    if (state === "working" && mayBeAlive(identity)) return true;
    return SERVICES.has(command) && clock.now() - (stoppedAt ?? heartbeatAt) < RESTART_MS;
  });
}
