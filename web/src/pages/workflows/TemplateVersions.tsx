/** The versions of a template, and the diff of two of them. */
import { useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import type { Template } from "../../api/types.ts";
import { definitionChanges, outlineOf, pretty } from "./logic/flow-definition.ts";
import { count } from "../../logic/format.ts";
import { blocksOf, type DiffBlock, type DiffLine, diffLines } from "./logic/line-diff.ts";
import { ALWAYS } from "../../logic/table.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Select } from "../../ui/Field.tsx";
import { EmptyState } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/Values.tsx";

export function TemplateVersions({
  versions,
  onShow,
}: {
  versions: readonly Template[];
  onShow: (version: string) => void;
}) {
  const columns: Column<Template>[] = [
    {
      id: "version",
      name: "Version",
      width: "minmax(140px, 1fr)",
      phone: "head",
      cell: ({ version, built_in }) => (
        <span className="row">
          <strong>{`Version ${version}`}</strong>
          {version === versions[0]?.version ? <Badge tone="good">Current</Badge> : null}
          {built_in ? <Badge>Built in</Badge> : null}
        </span>
      ),
    },
    { id: "steps", name: "Steps", width: "70px", cell: ({ definition }) => outlineOf(definition).steps.length },
    {
      id: "saved",
      name: "Saved",
      width: "120px",
      cell: ({ created_at, built_in }) => (built_in ? <span className="soft">–</span> : <Time at={created_at} />),
    },
    {
      id: "show",
      name: "View",
      width: "90px",
      priority: ALWAYS,
      align: "end",
      cell: ({ version }) => (
        <Button size="small" aria-label={`Show version ${version}`} onClick={() => onShow(String(version))}>
          Show
        </Button>
      ),
    },
  ];
  return (
    <div className="stack">
      <Card flush>
        <Table label="Versions" columns={columns} rows={versions} keyOf={({ version }) => String(version)} />
      </Card>
      {versions.length < 2 ? (
        <Card>
          <EmptyState icon="edit" title="One version so far">
            Every saved change becomes a version. Differences between two versions are shown here.
          </EmptyState>
        </Card>
      ) : (
        <Compare versions={versions} />
      )}
    </div>
  );
}

function Compare({ versions }: { versions: readonly Template[] }) {
  const [search, setSearch] = useSearchParams();
  const find = (key: string) => versions.find(({ version }) => String(version) === search.get(key));
  const after = find("to") ?? versions[0];
  const before = find("from") ?? versions[1];
  if (before === undefined || after === undefined) return null;
  const choose = (key: string, version: string) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        next.set(key, version);
        return next;
      },
      { replace: true },
    );
  const choices = versions.map(({ version }) => ({ value: String(version), name: `Version ${version}` }));
  return (
    <Card title="Differences" flush>
      <div className="diff-tools">
        <Select
          label="From"
          value={String(before.version)}
          choices={choices}
          onChange={({ target }) => choose("from", target.value)}
        />
        <Select
          label="To"
          value={String(after.version)}
          choices={choices}
          onChange={({ target }) => choose("to", target.value)}
        />
      </div>
      <Diff before={before.definition} after={after.definition} />
    </Card>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const KINDS = { added: "Added", removed: "Removed", changed: "Changed" } as const;
const TONES = { added: "good", removed: "bad", changed: "warn" } as const;

export function Changes({ before, after }: { before: unknown; after: unknown }) {
  const changes = useMemo(() => definitionChanges(before, after), [before, after]);
  if (changes.length === 0) return <p className="soft diff-none">No differences.</p>;
  return (
    <ul className="changes" aria-label="Changes">
      {changes.map(({ kind, what, keys }) => (
        <li key={`${kind} ${what}`}>
          <Badge tone={TONES[kind]}>{KINDS[kind]}</Badge>
          <span className="wrap">
            {what}
            {keys.length === 0 ? null : <span className="soft">{` (${keys.join(", ")})`}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Diff({ before, after }: { before: unknown; after: unknown }) {
  const blocks = useMemo(() => blocksOf(diffLines(pretty(before), pretty(after))), [before, after]);
  return (
    <>
      <Changes before={before} after={after} />
      {blocks.every((block) => "hidden" in block) ? null : (
        // Scrollable, so it must be focusable.
        <div className="diff" role="region" aria-label="Lines that differ" tabIndex={0}>
          {blocks.map((block, index) => (
            <Block key={index} block={block} />
          ))}
        </div>
      )}
    </>
  );
}

function Block({ block }: { block: DiffBlock }) {
  const [open, setOpen] = useState(false);
  if ("lines" in block) return <Lines lines={block.lines} />;
  if (open) return <Lines lines={block.hidden} />;
  return (
    <button type="button" className="diff-hidden" onClick={() => setOpen(true)}>
      {`Show ${count(block.hidden.length, "unchanged line", "unchanged lines")}`}
    </button>
  );
}

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <div>
      {lines.map(({ kind, text, before, after }) => (
        <div key={`${before} ${after}`} className={`diff-line diff-${kind}`}>
          <span className="diff-number">{before ?? ""}</span>
          <span className="diff-number">{after ?? ""}</span>
          <span className="diff-sign">{SIGNS[kind]}</span>
          <span className="diff-text">{text}</span>
        </div>
      ))}
    </div>
  );
}
