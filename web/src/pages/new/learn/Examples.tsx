import { type FormEvent, type RefObject, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Input } from "../../../ui/Field.tsx";
import { ErrorBox } from "../../../ui/States.tsx";
import { type ExampleField, exampleProblems, nextOf, withTyped } from "../logic/examples.ts";
import { asText } from "../logic/found.ts";
import { freeName } from "../logic/rules.ts";
import type { Frame } from "../../../ui/text/useFrame.ts";
import type { LearnState } from "./useLearn.ts";

/** The fields with their example values: clicked on the page, or typed. */
export function Examples({ learn, locate }: { learn: LearnState; locate: RefObject<Frame["locate"] | null> }) {
  const { pages, page, fields, setFields, armed, setArmed, isList, busy, error } = learn;
  const [refused, setRefused] = useState<{ key: number; why: string } | null>(null);
  const [isTried, setIsTried] = useState(false);
  const problems = exampleProblems(fields, { isList });
  const list = useRef<HTMLUListElement>(null);
  const added = useRef<number | null>(null);
  useEffect(() => {
    if (added.current === null) return;
    const input = list.current?.lastElementChild?.querySelector("input");
    input?.focus();
    input?.select();
    added.current = null;
  }, [fields]);
  const add = () => {
    const key = nextOf(fields);
    added.current = key;
    setFields([...fields, { key, name: freeName("field", fields), look: "", values: [] }]);
    setArmed({ key, once: true });
  };
  const set = (key: number, more: Partial<ExampleField>) =>
    setFields(fields.map((field) => (field.key === key ? { ...field, ...more } : field)));
  const latest = useRef(fields);
  latest.current = fields;
  const addTyped = async (key: number, text: string) => {
    if (page === null) return;
    const places = (await locate.current?.(text)) ?? [];
    const field = latest.current.find((one) => one.key === key);
    if (field === undefined) return;
    const typed = { page: page.key, text, places, isList };
    const why = withTyped(field, typed);
    setRefused(typeof why === "string" ? { key, why } : null);
    const added = (one: ExampleField) => {
      const next = one.key === key ? withTyped(one, typed) : one;
      return typeof next === "string" ? one : next;
    };
    setFields((old) => old.map(added));
  };
  const learnNow = () => {
    setIsTried(true);
    if (fields.length > 0 && problems.size === 0) void learn.learn();
  };
  return (
    <Card
      title="Examples"
      className="rules-card"
      actions={
        <Button size="small" icon="plus" onClick={add}>
          Add field
        </Button>
      }
    >
      <div className="stack new-tight">
        {fields.length === 0 ? (
          <p className={isTried ? "field-error" : "soft"} role={isTried ? "alert" : undefined}>
            No examples yet. Click a value on the page, or add a field and type its value.
          </p>
        ) : (
          <ul className="rules" ref={list}>
            {fields.map((field, n) => (
              <li key={field.key} className={`rule ${armed?.key === field.key ? "rule-armed" : ""}`}>
                <div className="rule-line learn-name">
                  <Input
                    bare
                    label={`Name of field ${n + 1}`}
                    className="control rule-name"
                    spellCheck={false}
                    value={field.name}
                    error={isTried ? problems.get(field.key) : undefined}
                    onChange={({ target }) => set(field.key, { name: target.value })}
                  />
                  <Button
                    size="small"
                    kind="quiet"
                    aria-pressed={armed?.key === field.key}
                    onClick={() => setArmed(armed?.key === field.key ? null : { key: field.key, once: false })}
                  >
                    {armed?.key === field.key ? "Click values…" : "Pick values"}
                  </Button>
                  <IconButton
                    label={`Remove field ${n + 1}`}
                    icon="trash"
                    onClick={() => {
                      setFields(fields.filter(({ key }) => key !== field.key));
                      if (armed?.key === field.key) setArmed(null);
                    }}
                  />
                </div>
                <Values
                  field={field}
                  pages={pages.map(({ key }) => key)}
                  onRemove={(index) => set(field.key, { values: field.values.filter((_, at) => at !== index) })}
                />
                <TypedValue
                  number={n + 1}
                  isDisabled={page === null}
                  refusal={refused?.key === field.key ? refused.why : null}
                  onAdd={(text) => void addTyped(field.key, text)}
                />
              </li>
            ))}
          </ul>
        )}
        <div className="row">
          <Button kind="primary" icon="bolt" needs="learnRules" busy={busy} disabled={page === null} onClick={learnNow}>
            Learn rules
          </Button>
        </div>
        {error === null ? null : <ErrorBox error={error} />}
      </div>
    </Card>
  );
}

function Values({
  field: { name, values },
  pages,
  onRemove,
}: {
  field: ExampleField;
  pages: readonly number[];
  onRemove: (index: number) => void;
}) {
  if (values.length === 0) return null;
  return (
    <ul className="learn-values" aria-label={`Values of ${name}`}>
      {values.map(({ page, text }, index) => (
        <li key={index} className="learn-value">
          {pages.length > 1 ? <span className="soft">{pages.indexOf(page) + 1}</span> : null}
          <code title={text}>{asText(text)}</code>
          <IconButton
            size="small"
            label={`Remove the value ${asText(text)}`}
            icon="close"
            onClick={() => onRemove(index)}
          />
        </li>
      ))}
    </ul>
  );
}

function TypedValue({
  number,
  isDisabled,
  refusal,
  onAdd,
}: {
  number: number;
  isDisabled: boolean;
  /** Why the last value was not added. */
  refusal: string | null;
  onAdd: (text: string) => void;
}) {
  const [text, setText] = useState("");
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "" || isDisabled) return;
    onAdd(text.replace(/\s+/g, " ").trim());
    setText("");
  };
  return (
    <form className="rule-line learn-typed" onSubmit={add}>
      <Input
        bare
        label={`Value of field ${number} on this page`}
        placeholder="or type a value, as the page shows it"
        maxLength={10_000}
        spellCheck={false}
        value={text}
        error={refusal ?? undefined}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" size="small" disabled={isDisabled} aria-label={`Add the value of field ${number}`}>
        Add
      </Button>
    </form>
  );
}
