/** Entries, items and files of a step. */
import { useState } from "react";
import { Link } from "wouter";
import { addressOf, type Answer } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import { plain, pretty } from "./logic/flow-definition.ts";
import { type FlowStep, ITEMS_AT_ONCE, itemsToFetch, type StepDetail } from "./logic/flow-steps.ts";
import { count, plainUrl, sentence } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Segmented } from "../../ui/Field.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Bytes } from "../../ui/Values.tsx";

const SHOWN = 20;

function Heading({ children }: { children: string }) {
  return <h3>{children}</h3>;
}

/** Entries of a `for_each` step, with a filter for failed ones. */
export function Entries({ flowId, step }: { flowId: string; step: FlowStep }) {
  const [only, setOnly] = useState<"all" | "failed">("all");
  const entries = useCall(
    "listEntries",
    {
      params: { workflow_id: flowId, task: step.task_name },
      query: { limit: SHOWN, ...(only === "all" ? {} : { status: only }) },
    },
    { placeholderData: (old) => old, refetchInterval: step.status === "running" ? 3000 : false },
  );
  return (
    <section className="step-section">
      <div className="spread">
        <Heading>Entries of the list</Heading>
        <Segmented
          label="Entries"
          value={only}
          choices={[
            { value: "all", name: "All" },
            { value: "failed", name: `Failed ${step.entries?.failed ?? 0}` },
          ]}
          onChange={(value) => setOnly(value === "failed" ? "failed" : "all")}
        />
      </div>
      {entries.data === undefined ? (
        entries.error === null ? (
          <Skeleton lines={3} />
        ) : (
          <ErrorBox error={entries.error} onRetry={() => void entries.refetch()} />
        )
      ) : entries.data.length === 0 ? (
        <p className="soft">{only === "failed" ? "None has failed." : "None has started yet."}</p>
      ) : (
        <ul className="entries">
          {entries.data.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      {(entries.data?.length ?? 0) < SHOWN ? null : <p className="soft">The first {SHOWN} are shown.</p>}
    </section>
  );
}

function Entry({ entry }: { entry: Answer<"listEntries">[number] }) {
  return (
    <li>
      <details>
        <summary>
          <StatusBadge status={entry.status} />
          <span className="truncate" title={plain(entry.item)}>
            {plain(entry.item)}
          </span>
        </summary>
        {entry.error_message === null ? null : <p className="wrap entry-error">{entry.error_message}</p>}
        <Code text={pretty({ item: entry.item, result: entry.result })} wrap label="Copy the entry" />
      </details>
    </li>
  );
}

/** Output items of a step. */
export function Items({ flowId, step, detail }: { flowId: string; step: FlowStep; detail: StepDetail }) {
  const address = { params: { workflow_id: flowId, task: step.task_name } };
  const total = detail.items_count ?? 0;
  const items = useCall("listItems", { ...address, query: { limit: 3 } });
  return (
    <section className="step-section">
      <div className="spread">
        <Heading>{count(total, "record")}</Heading>
        <ItemsLink flowId={flowId} task={step.task_name} detail={detail} />
      </div>
      {items.data === undefined ? (
        items.error === null ? (
          <Skeleton lines={3} />
        ) : (
          <ErrorBox error={items.error} onRetry={() => void items.refetch()} />
        )
      ) : (
        <Code text={items.data.map(pretty).join("\n")} wrap label="Copy these items" />
      )}
      {total > 3 ? <p className="soft">The first 3 are shown.</p> : null}
    </section>
  );
}

/** Link to all items of a step: as a list while one response holds them, else as their file. */
export function ItemsLink({ flowId, task, detail }: { flowId: string; task: string; detail: StepDetail }) {
  const { words, file } = itemsToFetch(detail);
  return (
    <LinkButton
      href={
        file === null
          ? addressOf("listItems", { params: { workflow_id: flowId, task }, query: { limit: ITEMS_AT_ONCE } })
          : fileHref(file)
      }
      size="small"
      icon={file === null ? "external" : "download"}
      target="_blank"
      rel="noopener"
      aria-label={`Items of ${task}: ${words}`}
    >
      {words}
    </LinkButton>
  );
}

const fileHref = (id: string) => addressOf("getArtifact", { params: { artifact_id: id } });

export function Files({ artifacts }: { artifacts: StepDetail["artifacts"] }) {
  // Items have their own section.
  const files = artifacts.filter(({ role }) => role !== "items");
  if (files.length === 0) return null;
  return (
    <section className="step-section">
      <Heading>{count(files.length, "file")}</Heading>
      <ul className="files">
        {files.slice(0, SHOWN).map(({ id, role, size, content_type, url }) => (
          <li key={id}>
            <a href={fileHref(id)} target="_blank" rel="noopener noreferrer" className="link truncate" title={url}>
              {fileName(url, role)}
            </a>
            <span className="soft truncate">{content_type ?? sentence(role)}</span>
            <Bytes value={size} />
          </li>
        ))}
      </ul>
      {files.length > SHOWN ? (
        <p className="soft">
          The first {SHOWN} are shown; all are under{" "}
          <Link href="?tab=results" className="link">
            Results
          </Link>
          .
        </p>
      ) : null}
    </section>
  );
}

/** The URL it was downloaded from, or the name the step set. */
export function fileName(url: string, role: string): string {
  if (url === "") return sentence(role);
  return url.startsWith("step:") ? url.slice(url.indexOf("/") + 1) : plainUrl(url);
}
