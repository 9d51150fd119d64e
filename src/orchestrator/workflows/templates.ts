/**
 * Templates: definitions that workflows are started from by name. Each change is a new version, and a run keeps its
 * version. A built-in template is version 1 of its name; saving one of that name creates version 2. Before the first
 * release, a built-in template may change within version 1.
 */
import { isDeepStrictEqual } from "node:util";
import { type FieldError, OrbError } from "../../base/errors.ts";
import { isoOrNull } from "../../base/iso.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { hasSecrets, shownDefinition, shownSchema } from "../../domain/workflow/secrets/secrets.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type { TemplateRecord } from "../../store/ports/workflow-port.ts";
import { BUILT_IN_TEMPLATES } from "../../workflows/templates/registry.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { readDefinition, requireSealed } from "./definition.ts";
import { refuseMovedSecrets } from "./moved-secrets.ts";

export interface TemplateView {
  name: string;
  version: number;
  built_in: boolean;
  description: string | null;
  /** The JSON Schema of its params; null: none. */
  params: JsonValue;
  definition: JsonValue;
  created_at: string | null;
}

/** One version of a template, built in or stored. */
interface Found extends Omit<TemplateRecord, "createdAt"> {
  builtIn: boolean;
  createdAt: number | null;
}

const BUILT_IN_VERSION = 1;

function builtIn(name: string): Found | null {
  const definition = BUILT_IN_TEMPLATES.get(name);
  return definition === undefined
    ? null
    : { name, version: BUILT_IN_VERSION, definition, builtIn: true, createdAt: null };
}

const kept = (record: TemplateRecord): Found => ({ ...record, builtIn: false });

/** Without a version: the newest. */
export async function findTemplate(
  { store }: Pick<OrchestratorDeps, "store">,
  name: string,
  version?: number,
): Promise<Found> {
  const stored = await store.template(name, version);
  if (stored !== null) return kept(stored);
  const builtInTemplate = builtIn(name);
  if (builtInTemplate !== null && (version ?? BUILT_IN_VERSION) === BUILT_IN_VERSION) return builtInTemplate;
  const isKnown = builtInTemplate !== null || (await store.template(name)) !== null;
  throw isKnown
    ? new OrbError("not_found", `the template ${name} has no version ${version}`)
    : new OrbError("not_found", `there is no template named ${name}`);
}

export async function showTemplate(deps: OrchestratorDeps, name: string, version?: number): Promise<TemplateView> {
  return toView(await findTemplate(deps, name, version));
}

/** The newest version of each, by name. */
export async function listTemplates({ store }: OrchestratorDeps): Promise<TemplateView[]> {
  const stored = (await store.templates()).map(kept);
  const names = new Set(stored.map(({ name }) => name));
  const others = [...BUILT_IN_TEMPLATES.keys()]
    .filter((name) => !names.has(name))
    .flatMap((name) => builtIn(name) ?? []);
  return [...stored, ...others].toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(toView);
}

/** Newest first. */
export async function listTemplateVersions(deps: OrchestratorDeps, name: string): Promise<TemplateView[]> {
  const stored = (await deps.store.templateVersions(name)).map(kept);
  const builtInTemplate = builtIn(name);
  const isCovered = stored.some(({ version }) => version === BUILT_IN_VERSION);
  const all = builtInTemplate === null || isCovered ? stored : [...stored, builtInTemplate];
  if (all.length === 0) await findTemplate(deps, name);
  return all.map(toView);
}

/** Template names appear in URLs and commands. */
export const TEMPLATE_NAME = { pattern: "^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$", maxLength: 100 } as const;

/** Saves a template as a new version, if it changed. Started runs keep theirs. */
export async function putTemplate(
  deps: Pick<JobDeps, "store" | "clock" | "stepKinds" | "seal">,
  name: string,
  definition: unknown,
  pathOf: (inner: string) => string,
  version?: number,
): Promise<TemplateView> {
  const problems: FieldError[] = [];
  if (name.length > TEMPLATE_NAME.maxLength || !new RegExp(TEMPLATE_NAME.pattern).test(name))
    problems.push({ path: "name", message: "expected at most 100 letters and digits, with . _ - between them" });
  await readDefinition(deps, definition, pathOf, problems);
  if (problems.length > 0) throw invalid(problems);
  const builtInTemplate = builtIn(name);
  const present = await deps.store.template(name);
  if (builtInTemplate !== null && present === null && isDeepStrictEqual(builtInTemplate.definition, definition))
    return toView(builtInTemplate);
  const before = { definition: present?.definition ?? null, params: {} };
  refuseMovedSecrets(before, { definition, params: {} }, (part, inner) =>
    pathOf(part === "definition" ? inner : `params.properties.${inner}.default`),
  );
  const sealed = await requireSealed(deps, definition as JsonValue, present?.definition ?? null, pathOf);
  const first = builtInTemplate === null ? 1 : BUILT_IN_VERSION + 1;
  return toView(kept(await deps.store.putTemplate(name, sealed, first, deps.clock.now(), version)));
}

/** Deletes all saved versions; a built-in template is restored. Started runs keep theirs. */
export async function deleteTemplate(deps: Pick<OrchestratorDeps, "store">, name: string): Promise<void> {
  await refuseKeptVersions(deps, name);
  if ((await deps.store.deleteTemplate(name)) > 0) return;
  throw builtIn(name) === null
    ? new OrbError("not_found", `there is no template named ${name}`)
    : new OrbError("not_found", `nothing to delete: ${name} is a built-in template without saved versions`, {
        hint: "orb workflows templates list shows all templates.",
      });
}

const JOBS_AT_ONCE = 500;

/** The numbers of versions begin anew: a job that keeps secrets for one would send them to whatever has its number then. */
async function refuseKeptVersions({ store }: Pick<OrchestratorDeps, "store">, name: string): Promise<void> {
  for (let after: string | undefined; ;) {
    const jobs = await store.jobs({ limit: JOBS_AT_ONCE, ...(after === undefined ? {} : { after }) });
    for (const job of jobs) {
      if (job.kind !== "workflow") continue;
      const { template, params } = (job.recipe as WorkflowRecipe).workflow;
      if (template === name && hasSecrets(params))
        throw new OrbError("illegal_transition", `the job ${job.name} keeps secrets for the template ${name}`, {
          hint: "Change or delete the job first.",
        });
    }
    if (jobs.length < JOBS_AT_ONCE) return;
    after = jobs.at(-1)!.id;
  }
}

function toView({ name, version, builtIn: isBuiltIn, definition, createdAt }: Found): TemplateView {
  const { description, params } = definition as { description?: string | null; params?: JsonValue };
  return {
    name,
    version,
    built_in: isBuiltIn,
    description: description ?? null,
    params: shownSchema(params ?? null),
    definition: shownDefinition(definition),
    created_at: isoOrNull(createdAt),
  };
}
