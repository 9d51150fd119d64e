import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseEnv } from "node:util";
import { loadConfig } from "../../src/config/load.ts";
import { read, root } from "../support/source.ts";
import {
  assertCommand,
  assertConfig,
  assertPinned,
  assertTimeToStop,
  type Env,
  envOf,
  stagesOf,
  yamlIn,
} from "./kit.ts";

const stages = stagesOf(read("Dockerfile"));
const last = stages.at(-1) ?? [];
const all = (word: string) => last.filter((one) => one.word === word).map(({ rest }) => rest);
const [entrypoint = []] = all("ENTRYPOINT").map((rest) => JSON.parse(rest) as string[]);
const imageEnv = envOf(last);

test("the image is built in stages on a pinned Node 24, and the last one installs no packages of npm", () => {
  assert.ok(stages.length > 1);
  for (const [from] of stages) {
    const image = from?.rest.split(" ")[0] ?? "";
    assertPinned(image);
    assert.match(image, /^node:24-.*slim$/);
  }
  assert.ok(!all("RUN").some((rest) => /\bnpm\b/.test(rest)));
  assert.ok(stages.slice(0, -1).some((stage) => stage.some(({ rest }) => /\bnpm ci --omit=dev\b/.test(rest))));
});

test("the image runs as an ordinary user, has a browser, and is asked whether it is well", () => {
  assert.match(all("USER").at(-1) ?? "", /^[1-9]\d*:[1-9]\d*$/);
  assert.ok(all("RUN").some((rest) => /\bchromium-headless-shell\b/.test(rest)));
  assert.match(all("HEALTHCHECK")[0] ?? "", /CMD \["node", "\/app\/deploy\/probe\.mjs", "\/health"\]$/);
});

test("what the image copies exists and is not ignored, and the program starts from it", () => {
  const kept: string[] = read(".dockerignore").match(/(?<=^!).*/gm) ?? [];
  assert.match(read(".dockerignore"), /^\*$/m);
  const copies = stages.flatMap((stage) => stage.filter(({ word }) => word === "COPY").map(({ rest }) => rest));
  const sources = copies.filter((rest) => !rest.startsWith("--from")).flatMap((rest) => rest.split(" ").slice(0, -1));
  for (const source of sources) {
    assert.ok(existsSync(join(root, source)), source);
    assert.ok(kept.includes(source), `.dockerignore keeps ${source}`);
  }
  assert.deepEqual(
    kept.filter((path) => !sources.includes(path)),
    [],
  );
  assert.deepEqual(entrypoint, ["tini", "--", "/app/bin/orb"]);
  for (const path of ["bin", "src", "package.json", "deploy/probe.mjs"]) assert.ok(sources.includes(path), path);
});

test("the image alone is an installation on SQLite that nobody reaches without a token", () => {
  const [command = []] = all("CMD").map((rest) => JSON.parse(rest) as string[]);
  assertCommand(command);
  const config = assertConfig(imageEnv);
  assert.deepEqual(config.database, { kind: "sqlite", path: "/var/lib/orb/orb.db" });
  assert.ok(all("VOLUME").includes(config.dataDir));
  // What it listens on would be refused as a setting: the command is held to the same rule when it starts.
  const host = command[command.indexOf("--host") + 1] ?? "";
  assert.throws(() => loadConfig({ env: { APP_HOST: host }, cwd: root }), /APP_API_TOKEN/);
});

interface Service {
  image: string;
  build?: string;
  command?: string[];
  env_file?: string;
  environment?: Env;
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  stop_grace_period?: string;
  deploy?: { replicas: number };
}

test("compose.yaml: services, volumes and settings fit together, and orb knows its commands", () => {
  const [file] = yamlIn("compose.yaml") as { services: Record<string, Service>; volumes: Record<string, unknown> }[];
  const { services = {}, volumes = {} } = file ?? {};
  const given = parseEnv(read("deploy/compose.env.example")) as Env;
  for (const name of ["APP_API_TOKEN", "APP_SECRET_KEY", "POSTGRES_PASSWORD"])
    assert.equal(given[name], "", `${name} is no secret that everybody knows`);
  for (const [name, service] of Object.entries(services)) {
    assertPinned(service.image);
    for (const other of Object.keys(service.depends_on ?? {}))
      assert.ok(services[other]?.healthcheck?.test !== undefined, `${name} waits for ${other} to be well`);
    for (const volume of service.volumes ?? []) assert.ok((volume.split(":")[0] ?? "") in volumes, volume);
    if (service.build === undefined) continue;
    assertCommand(service.command ?? []);
    assert.equal(service.env_file, "deploy/compose.env");
    const config = assertConfig({ ...imageEnv, ...given, ...service.environment });
    assert.equal(config.database.kind, "postgres");
    assert.equal(URL.parse(config.redisUrl ?? "")?.hostname, "redis");
    assertTimeToStop(Number.parseInt(service.stop_grace_period ?? "", 10), config);
    // Who does not listen would never be found well.
    assert.equal(service.healthcheck?.disable === true, service.command?.[0] !== "serve", name);
    assert.ok(service.volumes?.some((volume) => volume.endsWith(`:${imageEnv["APP_DATA_DIR"]}`)));
  }
  assert.deepEqual(services["api"]?.command?.slice(0, 2), ["serve", "--no-worker"]);
  assert.deepEqual(services["worker"]?.command, ["worker"]);
  assert.ok((services["worker"]?.deploy?.replicas ?? 0) > 1);
  assert.match(services["redis"]?.command?.join(" ") ?? "", /--maxmemory-policy noeviction --appendonly yes/);
});

test("the secrets of compose stay out of the repository", () => {
  assert.match(read(".gitignore"), /^deploy\/compose\.env$/m);
});

interface Probe {
  httpGet?: { path: string; port: string };
  exec?: { command: string[] };
}
interface Container extends Record<`${"startup" | "liveness" | "readiness"}Probe`, Probe | undefined> {
  image: string;
  args: string[];
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  securityContext: { allowPrivilegeEscalation: boolean };
  volumeMounts: { name: string; mountPath: string }[];
}
interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Env;
  stringData?: Env;
  spec?: {
    selector: Record<string, unknown> & { matchLabels?: Env };
    ports?: { targetPort: string }[];
    template?: {
      metadata: { labels: Env };
      spec: {
        terminationGracePeriodSeconds: number;
        securityContext: { runAsNonRoot: boolean; runAsUser: number };
        containers: Container[];
        volumes: { name: string }[];
      };
    };
  };
}

test("deploy/kubernetes.yaml: what refers to another fits it, and orb knows its commands and settings", () => {
  const resources = yamlIn("deploy/kubernetes.yaml") as Resource[];
  const find = (kind: string, name: string) => {
    const found = resources.find((one) => one.kind === kind && one.metadata.name === name);
    assert.ok(found !== undefined, `${kind} ${name}`);
    return found;
  };
  for (const { apiVersion, kind } of resources)
    assert.equal(apiVersion, kind === "Deployment" ? "apps/v1" : "v1", kind);
  const deployments = resources.filter(({ kind }) => kind === "Deployment");
  const commands = new Set<string>();
  for (const { metadata, spec } of deployments) {
    const pod = spec?.template?.spec;
    assert.ok(pod !== undefined, metadata.name);
    assert.deepEqual(spec?.selector.matchLabels, spec?.template?.metadata.labels);
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.ok(pod.securityContext.runAsUser > 0);
    for (const container of pod.containers) {
      assertPinned(container.image);
      assertCommand(container.args);
      commands.add(container.args.slice(0, 2).join(" "));
      assert.equal(container.securityContext.allowPrivilegeEscalation, false);
      const maps = container.envFrom.map(({ configMapRef, secretRef }) =>
        configMapRef === undefined
          ? find("Secret", secretRef?.name ?? "").stringData
          : find("ConfigMap", configMapRef.name).data,
      );
      const config = assertConfig(Object.assign({ ...imageEnv }, ...maps) as Env);
      assert.deepEqual(
        [config.database.kind, config.artifacts.kind, config.redisUrl !== null],
        ["postgres", "s3", true],
      );
      assertTimeToStop(pod.terminationGracePeriodSeconds, config);
      for (const mount of container.volumeMounts) assert.ok(pod.volumes.some(({ name }) => name === mount.name));
      assert.ok(container.volumeMounts.some(({ mountPath }) => mountPath === config.dataDir));
      if (container.args[0] !== "serve") continue;
      const named = new Set((container.ports ?? []).map(({ name }) => name));
      for (const probe of [container.startupProbe, container.livenessProbe]) {
        assert.equal(probe?.httpGet?.path, "/health");
        assert.ok(named.has(probe.httpGet.port));
      }
      assert.deepEqual(container.readinessProbe?.exec?.command, ["node", "/app/deploy/probe.mjs", "/ready"]);
      assert.equal(container.ports?.[0]?.containerPort, config.port);
      const service = resources.find((one) => one.kind === "Service");
      assert.deepEqual(service?.spec?.selector, spec?.template?.metadata.labels);
      assert.ok(service?.spec?.ports?.every(({ targetPort }) => named.has(targetPort)));
    }
  }
  assert.deepEqual([...commands], ["serve --no-worker", "worker"]);
  for (const name of ["APP_API_TOKEN", "APP_SECRET_KEY", "APP_S3_ACCESS_KEY_ID", "APP_S3_SECRET_ACCESS_KEY"])
    assert.equal(find("Secret", "orb").stringData?.[name], "", `${name} is no secret that everybody knows`);
});
