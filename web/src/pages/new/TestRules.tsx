import { useState } from "react";
import { call } from "../../api/client.ts";
import type { Operations } from "../../api/types.ts";
import { count, plainUrl, shorten } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { type Form, rulesOrderOf } from "./logic/new-form.ts";

type RulesTest = Operations["testJob"]["answer"];
type TestedPage = RulesTest["pages"][number];
type FieldDiff = TestedPage["fields"][number];

const TONES = { lost: "bad", changed: "warn", new: "info", same: "good" } as const;
const WORDS = { lost: "Lost", changed: "Changed", new: "New", same: "Same" } as const;

/** Reads the saved pages of a job by the rules in the form, before they are saved. */
export function TestRules({ form, job }: { form: Form; job: string }) {
  const [state, setState] = useState<RulesTest | { error: unknown } | "busy" | null>(null);
  const test = async () => {
    const { body, problems } = rulesOrderOf(form);
    if (problems.length > 0) return setState({ error: new Error(problems[0]!.message) });
    setState("busy");
    try {
      setState(await call("testJob", { params: { job_id: job }, body: body as never }));
    } catch (error) {
      setState({ error });
    }
  };
  return (
    <>
      <Button icon="check" needs="testJob" busy={state === "busy"} onClick={() => void test()}>
        Test on saved pages
      </Button>
      <Dialog open={state !== null} onClose={() => setState(null)} title="Test on saved pages" wide>
        {state === null ? null : state === "busy" ? (
          <Skeleton lines={5} />
        ) : "error" in state ? (
          <ErrorBox error={state.error} />
        ) : (
          <Outcome test={state} />
        )}
      </Dialog>
    </>
  );
}

function Outcome({ test: { passed, summary, pages } }: { test: RulesTest }) {
  const parts = (["lost", "changed", "new"] as const).filter((result) => summary[result] > 0);
  const differs = pages.filter(({ error, fields }) => error !== null || fields.some(({ result }) => result !== "same"));
  return (
    <div className="stack">
      <p className="row" role="status">
        <Badge tone={passed ? "good" : "warn"}>{passed ? "As before" : "Not as before"}</Badge>
        <span>
          {count(summary.pages, "page")}: {count(summary.same, "field")} with the same values
          {parts.map((result) => `, ${summary[result]} ${result}`).join("")}
          {summary.failed === 0 ? "" : `; ${count(summary.failed, "page")} failed`}
        </span>
      </p>
      <p className="soft">
        These rules were applied to pages that earlier runs saved. Nothing was fetched, and nothing is saved yet.
      </p>
      {differs.map((page) => (
        <Page key={page.number} page={page} />
      ))}
    </div>
  );
}

function Page({ page }: { page: TestedPage }) {
  const changed = page.fields.filter(({ result }) => result !== "same");
  return (
    <section className="rules-page" aria-label={page.url}>
      <h3 className="wrap">
        {shorten(plainUrl(page.url), 80)}{" "}
        <span className="soft">
          saved <Time at={page.fetched_at} />
          {page.records_before === page.records_now
            ? `, ${count(page.records_now, "record")}`
            : `, ${page.records_before} → ${count(page.records_now, "record")}`}
        </span>
      </h3>
      {page.error === null ? null : <p className="rules-error wrap">{page.error}</p>}
      {changed.length === 0 ? null : (
        <table className="rules-diff">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">Now</th>
            </tr>
          </thead>
          <tbody>
            {changed.map((diff) => (
              <Row key={diff.field} diff={diff} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ diff: { field, result, counts, differences } }: { diff: FieldDiff }) {
  const [first] = differences;
  return (
    <tr>
      <th scope="row">
        <code className="wrap">{field}</code>{" "}
        <Badge tone={TONES[result]}>
          {WORDS[result]}
          {counts[result] > 1 ? ` in ${count(counts[result], "record")}` : ""}
        </Badge>
      </th>
      <td className="wrap">{shown(first?.before)}</td>
      <td className="wrap">{shown(first?.now)}</td>
    </tr>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return shorten(typeof value === "string" ? value : JSON.stringify(value), 160);
}
