/** State, validation and actions of the form. */
import { useLayoutEffect, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { call, Problem } from "../../api/client.ts";
import { queryClient } from "../../api/query.ts";
import { changesBy, type FormChange, merged } from "./logic/conflict.ts";
import { formOf } from "./logic/new-prefill.ts";
import { type Form, jobOrderOf, KINDS, type Order, orderOf } from "./logic/new-form.ts";
import { type FieldKey, MORE, problemsByField } from "./logic/new-problems.ts";
import type { FieldProblem, Json } from "./logic/new-values.ts";
import { isChanged } from "./logic/schema-form.ts";
import { toast } from "../../ui/overlay/Toast.tsx";
import { type CheckedDefinition, useDefinition } from "./useDefinition.ts";
import { useKeepDraft, useStoredDraft } from "./useDraft.ts";

export type Change = (change: Partial<Form>) => void;

export interface NewState {
  form: Form;
  change: Change;
  errors: Partial<Record<FieldKey, string>>;
  /** Errors of a template's params, by path. */
  paramProblems: readonly FieldProblem[];
  /** Validation state of the typed definition. */
  checked: CheckedDefinition;
  /** An error without a field. */
  failure: unknown;
  busy: "start" | "save" | null;
  moreOpen: boolean;
  setMoreOpen: (open: boolean) => void;
  start: () => Promise<void>;
  /** True: saved. */
  save: (options: { run: boolean }) => Promise<boolean>;
  /** The restored draft; null: none, or discarded. */
  draft: { dropped: boolean; discard: () => void } | null;
  /** A saved job is being edited. */
  isJob: boolean;
  /** Another user changed the job meanwhile; null: no. */
  conflict: {
    changes: FormChange[];
    busy: boolean;
    merge: () => void;
    overwrite: () => void;
    takeTheirs: () => void;
  } | null;
}

/** The edited job as it was opened. */
interface OpenedJob {
  id: string;
  version: string;
}

/** `first` is the initial form; `job` the edited one; `name` identifies the draft. */
export function useNew(first: Form, opened: OpenedJob | null, name: string): NewState {
  const job = opened?.id ?? null;
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const stored = useStoredDraft(name);
  const [begun, setBegun] = useState<Form>(() => ({
    ...first,
    url: first.url === "" ? (search.get("url") ?? "") : first.url,
    session: search.get("session") ?? first.session,
    follow: [first.follow, search.get("follow") ?? ""].filter((pattern) => pattern !== "").join("\n"),
    template: first.template === "" ? (search.get("template") ?? "") : first.template,
  }));
  const [state, setState] = useState<Form>(() => ({ ...begun, ...stored.draft?.form }));
  const [errors, setErrors] = useState<NewState["errors"]>({});
  const [paramProblems, setParamProblems] = useState<readonly FieldProblem[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState<NewState["busy"]>(null);
  const [moreOpen, setMoreOpen] = useState(() => search.has("follow") || search.has("session"));
  const version = useRef(opened?.version);
  const [theirs, setTheirs] = useState<{ form: Form; version: string } | null>(null);
  const [reportCount, setReportCount] = useState(0);
  const kind = KINDS.find((one) => one === search.get("kind")) ?? stored.draft?.form.kind ?? first.kind;
  const form: Form = { ...state, kind: job === null ? kind : first.kind };
  const sent = useRef(false);
  useKeepDraft(name, form, begun, () => sent.current);
  const isText = form.kind === "workflow" && form.source === "definition";
  const checked = useDefinition(isText ? form.definition : "");

  const change: Change = (more) => {
    setState((old) => ({ ...old, ...more }));
    if (more.params !== undefined)
      setParamProblems((old) => old.filter(({ path }) => !isChanged(path, form.params, more.params ?? {})));
    setErrors((old) =>
      Object.fromEntries(Object.entries(old).filter(([key]) => !((key.split(".")[0] ?? key) in more))),
    );
  };

  // Focus the first invalid field at once: a later focus would interrupt a user who already types.
  useLayoutEffect(() => {
    if (reportCount > 0)
      (
        document.querySelector<HTMLElement>("main [aria-invalid='true'], dialog [aria-invalid='true']") ??
        document.querySelector<HTMLElement>("main [data-problem]")
      )?.focus();
  }, [reportCount]);

  const report = (problems: readonly FieldProblem[], error: unknown) => {
    const { fields, params, others } = problemsByField(problems);
    setErrors(fields);
    setParamProblems(params);
    const isUnderMore = (key: string) => key.startsWith("kept.") || MORE.some((one) => one === key);
    if (Object.keys(fields).some(isUnderMore)) setMoreOpen(true);
    setFailure(problems.length > 0 && others.length === 0 ? null : error);
    setReportCount((times) => times + 1);
  };

  const underWay = useRef(false);
  const attempt = async (
    what: "start" | "save",
    order: Order,
    work: (body: Json) => Promise<void>,
  ): Promise<boolean> => {
    // Key presses can be faster than disabling the buttons.
    if (underWay.current) return false;
    setErrors({});
    setParamProblems([]);
    setFailure(null);
    if (order.problems.length > 0) {
      report(order.problems, null);
      return false;
    }
    underWay.current = true;
    setBusy(what);
    try {
      await work(order.body);
      sent.current = true;
      stored.clear();
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === "version_conflict" && (await readTheirs())) return false;
      report(error instanceof Problem ? error.fields : [], error);
      return false;
    } finally {
      underWay.current = false;
      setBusy(null);
    }
  };

  /** Loads the current job; false: failed as well. */
  const readTheirs = async (): Promise<boolean> => {
    try {
      const now = await call("getJob", { params: { job_id: job ?? "" } });
      setTheirs({ form: formOf(now as unknown as Json), version: now.version });
      return true;
    } catch {
      return false;
    }
  };

  const start = async () => {
    await attempt("start", isText ? { body: {}, problems: [] } : orderOf(form), async (body) => {
      const to = await begin(form, body);
      void queryClient.invalidateQueries({ queryKey: ["listRuns"] });
      go(to);
    });
  };

  // A job that was saved but could not be started: the next press starts this one.
  const savedJob = useRef<{ id: string; kind: Form["kind"] } | null>(null);
  const save = async ({ run }: { run: boolean }) => {
    const known = job ?? (savedJob.current?.kind === form.kind ? savedJob.current.id : null);
    return attempt("save", jobOrderOf(form, { changes: known !== null, read: checked.source }), async (body) => {
      const saved =
        known === null
          ? await call("createJob", { body: body as never })
          : await call("changeJob", {
              params: { job_id: known },
              body: (known === job && version.current !== undefined
                ? { ...body, version: version.current }
                : body) as never,
            });
      savedJob.current = { id: saved.id, kind: form.kind };
      void queryClient.invalidateQueries({ queryKey: ["listJobs"] });
      void queryClient.invalidateQueries({ queryKey: ["getJob"] });
      toast(job === null ? "The job is saved." : "The changes are saved.");
      if (!run) return go("/jobs");
      const begun = await call("startRun", { params: { job_id: saved.id } });
      go(saved.kind === "workflow" ? `/workflows/${begun.id}` : `/runs/${begun.id}`);
    });
  };

  const discard = () => {
    stored.clear();
    setState(begun);
    setErrors({});
    setParamProblems([]);
    setFailure(null);
  };
  /** Rebases the form on their version. */
  const goOnFrom = (now: { form: Form; version: string }, next: Form) => {
    version.current = now.version;
    setBegun(now.form);
    setState(next);
    setTheirs(null);
    setFailure(null);
  };
  const conflict =
    theirs === null
      ? null
      : {
          changes: changesBy(begun, theirs.form, form),
          busy: busy !== null,
          merge: () => goOnFrom(theirs, merged(begun, theirs.form, form)),
          overwrite: () => {
            goOnFrom(theirs, form);
            void save({ run: false });
          },
          takeTheirs: () => goOnFrom(theirs, theirs.form),
        };
  const draft = stored.draft === null ? null : { dropped: stored.draft.dropped, discard };
  return {
    isJob: job !== null,
    form,
    change,
    errors,
    paramProblems,
    checked,
    failure,
    busy,
    moreOpen,
    setMoreOpen,
    start,
    save,
    draft,
    conflict,
  };
}

async function begin(form: Form, body: Json): Promise<string> {
  if (form.kind === "crawl") return `/runs/${(await call("startCrawl", { body: body as never })).task_id}`;
  if (form.kind === "scrape") return `/runs/${(await call("startPage", { body: body as never })).id}`;
  const text = { type: "application/yaml", text: form.definition };
  const workflow =
    form.source === "definition"
      ? await call("createWorkflow", undefined as never, { text })
      : await call("createWorkflow", { body: body as never });
  return `/workflows/${workflow.id}`;
}
