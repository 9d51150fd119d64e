import { useEffect } from "react";
import type { Answer } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import { fieldsOf, type ParamField, problemsOfParams, tidyPairs, typedParam, withParam } from "./logic/schema-form.ts";
import { Card } from "../../ui/Card.tsx";
import { Input, Segmented, Select, Textarea } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import type { NewState } from "./useNew.ts";

/** The source of a workflow: a template with params, or a definition. */
export function WorkflowFields({ state }: { state: NewState }) {
  const { form, change } = state;
  return (
    <>
      <Segmented
        label="Source"
        value={form.source}
        choices={[
          { value: "template", name: "From a template" },
          { value: "definition", name: "From a definition" },
        ]}
        onChange={(source) => change({ source: source as typeof form.source })}
      />
      {form.source === "template" ? <FromTemplate state={state} /> : <FromDefinition state={state} />}
    </>
  );
}

type Template = Answer<"listTemplates">[number];

function FromTemplate({ state }: { state: NewState }) {
  const { form, change, errors } = state;
  const templates = useCall("listTemplates");
  const all = templates.data;
  const first = all?.[0]?.name;
  useEffect(() => {
    if (form.template === "" && first !== undefined) change({ template: first });
  }, [first]);
  if (templates.error !== null) return <ErrorBox error={templates.error} onRetry={() => void templates.refetch()} />;
  if (all === undefined)
    return (
      <Card>
        <Skeleton lines={5} />
      </Card>
    );
  if (all.length === 0)
    return (
      <EmptyState icon="workflows" title="No templates yet">
        Paste a definition instead, or save one with <code>orb workflows templates put NAME file.yaml</code>.
      </EmptyState>
    );
  const chosen = all.find(({ name }) => name === form.template);
  return (
    <Card>
      <div className="stack">
        <Select
          label="Template"
          error={
            errors.template ??
            (chosen === undefined && form.template !== ""
              ? `There is no template “${form.template}”. Choose another one.`
              : undefined)
          }
          help={chosen?.description ?? undefined}
          value={form.template}
          choices={[
            ...(chosen === undefined ? [{ value: form.template, name: form.template }] : []),
            ...all.map(({ name }) => ({ value: name, name })),
          ]}
          onChange={({ target }) => change({ template: target.value, templateVersion: "", params: {} })}
        />
        {chosen === undefined ? null : <Params state={state} template={chosen} />}
        <Input
          label="Name of this run"
          help="Default: the template’s name."
          error={errors.name}
          value={form.runName}
          onChange={({ target }) => change({ runName: target.value })}
        />
      </div>
    </Card>
  );
}

function Params({ state, template }: { state: NewState; template: Template }) {
  const { form, change, paramProblems } = state;
  const fields = fieldsOf(template.params);
  const { byField, others } = problemsOfParams(fields, paramProblems);
  if (fields.length === 0) return <p className="soft">No parameters.</p>;
  const set = (field: ParamField, text: string) => change({ params: withParam(form.params, field, text) });
  return (
    <>
      {others.length === 0 ? null : (
        <p className="field-error wrap" role="alert" tabIndex={-1} data-problem>
          {others.join(" ")}
        </p>
      )}
      <div className="new-grid">
        {fields.map((field) => (
          <div key={field.path.join(".")} className={/^urls?$/.test(field.path.at(-1) ?? "") ? "new-grid-wide" : ""}>
            <Param
              field={field}
              value={typedParam(form.params, field)}
              error={byField.get(field)}
              onType={(text) => set(field, text)}
            />
          </div>
        ))}
      </div>
    </>
  );
}

interface ParamProps {
  field: ParamField;
  value: string;
  error: string | undefined;
  onType: (text: string) => void;
}

function Param({ field, value, error, onType }: ParamProps) {
  const label = field.required ? `${field.label} (required)` : field.label;
  const words = { label, help: field.help === "" ? undefined : field.help, error };
  if (field.kind === "choice" || field.kind === "flag") {
    const choices = field.kind === "flag" ? ["true", "false"] : field.choices;
    const usual = field.usual === "" ? "–" : `Default (${sayChoice(field.usual)})`;
    return (
      <Select
        {...words}
        value={value}
        choices={[{ value: "", name: usual }, ...choices.map((one) => ({ value: one, name: sayChoice(one) }))]}
        onChange={({ target }) => onType(target.value)}
      />
    );
  }
  const { kind } = field;
  if (
    kind === "lines" ||
    kind === "names" ||
    kind === "pairs" ||
    kind === "rules" ||
    kind === "either" ||
    kind === "json"
  )
    return (
      <Textarea
        {...words}
        help={`${field.help} ${WRITTEN[kind]}`.trim()}
        rows={Math.min(
          8,
          Math.max(
            kind === "lines" || kind === "names" ? 1 : 2,
            (value === "" ? field.usual : value).split("\n").length,
          ),
        )}
        className="control control-area mono"
        spellCheck={false}
        value={value}
        placeholder={field.usual}
        onChange={({ target }) => onType(target.value)}
        onBlur={() => {
          const isTidied = kind === "pairs" || (kind === "rules" && value.includes(":") && !/^\s*[[{]/.test(value));
          if (isTidied && tidyPairs(value) !== value) onType(tidyPairs(value));
        }}
      />
    );
  return (
    <Input
      {...words}
      type={field.isSecret ? "password" : field.kind === "number" ? "number" : "text"}
      step={field.kind === "number" ? "any" : undefined}
      value={value}
      placeholder={field.usual}
      onChange={({ target }) => onType(target.value)}
    />
  );
}

/** Multi-line inputs. */
const WRITTEN = {
  lines: "One per line.",
  names: "One per line.",
  pairs: "One per line, as name: value.",
  rules: "One per line: a name, or name: CSS selector.",
  either: "As text, or as JSON.",
  json: "As JSON.",
};

const sayChoice = (word: string) => ({ true: "Yes", false: "No" })[word] ?? word;

const EXAMPLE = `name: my workflow
steps:
  - name: crawl
    task_type: crawl
    params:
      url: https://example.com/
`;

function FromDefinition({ state }: { state: NewState }) {
  const { form, change, errors, checked } = state;
  return (
    <Card>
      <div className="stack">
        <Textarea
          label="Definition"
          help={
            <>
              YAML or JSON. To pass params, use two keys: <code>definition:</code> with the definition and{" "}
              <code>params:</code> with the values.
            </>
          }
          error={errors.definition}
          rows={16}
          className="control control-area mono new-definition"
          spellCheck={false}
          value={form.definition}
          placeholder={EXAMPLE}
          onChange={({ target }) => change({ definition: target.value })}
        />
        <div role="status" aria-live="polite">
          {checked.valid === null ? null : checked.valid ? (
            <p className="new-valid">
              <Icon name="check" /> The definition is valid.
            </p>
          ) : (
            <ul className="new-faults">
              {checked.problems.map(({ path, message }) => (
                <li key={`${path} ${message}`} className="wrap">
                  {path === "" ? null : <code>{path}</code>} {message}
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
    </Card>
  );
}
