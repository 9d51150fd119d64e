import type { FormEvent } from "react";
import {
  isNarrowed,
  KIND_NAMES,
  NO_FILTER,
  RUN_KINDS,
  RUN_STATES,
  type RunFilter,
  SPANS,
} from "../logic/run-filter.ts";
import { lookOf } from "../../../logic/states.ts";
import { Button } from "../../../ui/Button.tsx";
import { Input, Select, Switch } from "../../../ui/Field.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { Menu } from "../../../ui/overlay/Menu.tsx";
import { useTyped } from "../../../ui/useTyped.ts";

/** The filters of the list. They apply at once, and are in the URL. */
export function RunFilters({ filter, onChange }: { filter: RunFilter; onChange: (filter: RunFilter) => void }) {
  const { status } = filter;
  const states =
    status.length === 0 ? "Any status" : status.length > 2 ? `${status.length} statuses` : status.map(word).join(", ");
  return (
    <div className="run-filters" role="group" aria-label="Filters">
      <Typed label="Name, URL or id" value={filter.q} onChange={(q) => onChange({ ...filter, q })} wide />
      <Menu
        label={`Status: ${states}`}
        align="start"
        trigger={
          <>
            <Icon name="filter" />
            {states}
            <Icon name="chevron" size={12} />
          </>
        }
        items={RUN_STATES.map((state) => ({
          name: word(state),
          checked: status.includes(state),
          onChoose: () =>
            onChange({
              ...filter,
              status: RUN_STATES.filter((one) => (one === state ? !status.includes(state) : status.includes(one))),
            }),
        }))}
      />
      <Select
        label="Kind"
        bare
        value={filter.kind ?? ""}
        choices={[
          { value: "", name: "Any kind" },
          ...RUN_KINDS.map((kind) => ({ value: kind, name: KIND_NAMES[kind] })),
        ]}
        onChange={({ target }) =>
          onChange({ ...filter, kind: RUN_KINDS.find((kind) => kind === target.value) ?? null })
        }
      />
      <Typed label="Site" value={filter.site} onChange={(site) => onChange({ ...filter, site })} />
      <Select
        label="Created"
        bare
        value={filter.span ?? ""}
        choices={[{ value: "", name: "Any time" }, ...SPANS.map(({ id, name }) => ({ value: id, name }))]}
        onChange={({ target }) =>
          onChange({ ...filter, span: SPANS.find(({ id }) => id === target.value)?.id ?? null })
        }
      />
      <Switch
        label="Runs of workflow steps"
        checked={filter.steps}
        onChange={({ target }) => onChange({ ...filter, steps: target.checked })}
      />
      {isNarrowed(filter) ? (
        <Button kind="quiet" icon="close" onClick={() => onChange({ ...NO_FILTER, steps: filter.steps })}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}

const word = (state: string) => lookOf(state).word;

/** Text that applies when typing stops, or on Enter. */
function Typed({
  label,
  value,
  onChange,
  wide = false,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  wide?: boolean;
}) {
  const { text, setText, submit } = useTyped(value, onChange);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    submit();
  };
  return (
    <form className={wide ? "run-filter-text run-filter-wide" : "run-filter-text"} onSubmit={onSubmit}>
      <Input
        label={label}
        bare
        type="search"
        placeholder={label}
        value={text}
        maxLength={200}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}
