/**
 * Validates steps before anything runs: params that depend only on the workflow's params are resolved and validated as
 * the step would do.
 */
import { type FieldError, isOrbError, type OrbError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import type { CrawlInput } from "../../domain/crawl/crawl-options.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { StepDefinition, WorkflowDefinition } from "../../domain/workflow/definition.ts";
import { isTrue, resolveParams } from "../../domain/workflow/expression.ts";
import { completeParams } from "../../domain/workflow/params-check.ts";
import { HIDDEN, isSealed } from "../../domain/text/sealed-text.ts";
import type { KnownKinds } from "../../workflows/step-kind.ts";
import { crawlOptionsFrom } from "../crawls/options.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { type Checks, type JobInput, pageJobFrom, refuseForbidden } from "../jobs/input.ts";
import { readProxy } from "../jobs/proxy-input.ts";

type PreflightDeps = Checks & Pick<JobDeps, "respectRobots">;
type Params = Readonly<Record<string, JsonValue>>;

interface Preflight {
  /** With paths within the definition: `steps[2].params.url`. */
  faults: readonly (FieldError & { step: StepDefinition })[];
  /** A forbidden address. */
  forbidden: OrbError | null;
}

/** `params`: those of the workflow; null: unknown, and steps with expressions are not checked. */
export function preflight(
  deps: PreflightDeps,
  kinds: KnownKinds,
  definition: Pick<WorkflowDefinition, "steps">,
  params: Params | null,
): Preflight {
  const faults: (FieldError & { step: StepDefinition })[] = [];
  let forbidden: OrbError | null = null;
  for (const [index, step] of definition.steps.entries()) {
    const known = knownParams(step, params);
    const kind = kinds.find(step.task_type);
    if (known === null || kind === undefined) continue;
    const { ok, errors } = known.isWhole ? completeParams(kind.params, known.params) : { ok: known.params };
    // A condition on other steps' outputs may be there to skip exactly this case.
    if (ok === undefined && !known.isCertain) continue;
    const found = [...(errors ?? [])];
    if (ok !== undefined) {
      if (known.isWhole) found.push(...(kind.check?.(ok, earlierSteps(definition, index)) ?? []));
      if (found.length === 0)
        found.push(
          ...refusalsOf(deps, known.isWhole ? step.task_type : "", ok, kind.targets?.(ok) ?? [], (error) => {
            forbidden ??= error;
          }),
        );
    }
    faults.push(...found.map(({ path, message }) => ({ path: `steps[${index}].${path}`, message, step })));
  }
  return { faults, forbidden };
}

interface Known {
  params: Params;
  /** Whether the step runs does not depend on outputs of other steps. */
  isCertain: boolean;
  /** False: params that depend on outputs of other steps are missing. */
  isWhole: boolean;
}

/** Null: nothing is known, or the step will be skipped. */
function knownParams(step: StepDefinition, params: Params | null): Known | null {
  if (params === null || step.for_each !== null) {
    const isOpen = JSON.stringify(step.params).includes("${{");
    return isOpen ? null : { params: step.params, isCertain: step.when === null, isWhole: true };
  }
  const scope = { params, steps: {} };
  let isCertain = true;
  try {
    if (step.when !== null && !isTrue(step.when, scope)) return null;
  } catch {
    isCertain = false;
  }
  const resolved: Record<string, JsonValue> = {};
  let isWhole = true;
  for (const [name, value] of Object.entries(step.params)) {
    try {
      Object.assign(resolved, resolveParams({ [name]: value }, scope));
    } catch {
      isWhole = false;
    }
  }
  return { params: resolved, isCertain, isWhole };
}

function earlierSteps({ steps }: Pick<WorkflowDefinition, "steps">, index: number): string[] {
  const found = new Set<number>();
  const open = [...(steps[index]?.dependencies ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    open.push(...(steps[at]?.dependencies ?? []));
  }
  return [...found].flatMap((at) => steps[at]?.name ?? []);
}

/** The errors that the step's child run would be rejected with. */
function refusalsOf(
  deps: PreflightDeps,
  kind: string,
  params: Params,
  targets: readonly { path: string; url: string }[],
  forbid: (error: OrbError) => void,
): FieldError[] {
  const attempts: (() => unknown)[] = targets.map(
    ({ path, url }) =>
      () =>
        refuseForbidden(path, url, deps.policy),
  );
  const { accept_partial: _, url, urls, field: __, ...rest } = params;
  // Sealed values were validated before.
  const { proxy } = rest;
  const options = proxy === HIDDEN || isSealed(proxy) ? without(rest, "proxy") : rest;
  if (kind === "crawl") attempts.push(() => crawlOptionsFrom(deps, { ...options, url } as unknown as CrawlInput));
  if (kind === "scrape")
    for (const page of [url ?? urls ?? []].flat().slice(0, 100))
      attempts.push(() => pageJobFrom({ ...(options as JobInput), target_url: String(page) }, deps));
  if (kind === "download") attempts.push(() => refuseBadProxy(deps, options["proxy"] as string | null | undefined));
  const faults = new Map<string, FieldError>();
  for (const attempt of attempts) {
    try {
      attempt();
    } catch (error) {
      if (!isOrbError(error)) throw error;
      if (error.code === "forbidden_target") forbid(error);
      for (const { path, message } of error.fields ?? [{ path: "", message: error.message }]) {
        const named = path === "target_url" ? "url" : path;
        faults.set(`${named} ${message}`, { path: named.startsWith("params") ? named : `params.${named}`, message });
      }
    }
  }
  return [...faults.values()];
}

function refuseBadProxy(deps: PreflightDeps, proxy: string | null | undefined): void {
  const problems: FieldError[] = [];
  readProxy(proxy, deps, null, "proxy", problems);
  if (problems.length > 0) throw invalid(problems);
}
