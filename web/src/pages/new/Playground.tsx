/** The rule editor: a page in its sandbox, the fields, and their matches. */
import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useSearchParams } from "wouter";
import { capital } from "../../logic/format.ts";
import { lines } from "./logic/new-values.ts";
import { describeFound, problemsByRule } from "./logic/found.ts";
import { pageHtml } from "./logic/page-html.ts";
import { pickField } from "./logic/pick.ts";
import { freeName, newRule, nextKey, NO_ITEMS, type Rule, ruleProblems } from "./logic/rules.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Input, Segmented, Textarea } from "../../ui/Field.tsx";
import { HtmlFrame } from "../../ui/text/HtmlFrame.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { EmptyState, ErrorBox } from "../../ui/States.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { type Picked, useFrame } from "../../ui/text/useFrame.ts";
import { Learn } from "./learn/Learn.tsx";
import type { LearnState } from "./learn/useLearn.ts";
import { Records } from "./Records.tsx";
import { RuleRow } from "./RuleRow.tsx";
import { SessionChoice } from "./SessionChoice.tsx";
import type { NewState } from "./useNew.ts";
import { type FetchedPage, fetchPage, type Preview, usePreview } from "./usePreview.ts";
import "./playground.css";

const NARROW = matchMedia("(max-width: 980px)");
function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener("change", listener);
      return () => NARROW.removeEventListener("change", listener);
    },
    () => NARROW.matches,
  );
}

interface PlaygroundPage {
  page: FetchedPage | null;
  setPage: (page: FetchedPage | null) => void;
}

const MODES = [
  { value: "select", name: "Select elements" },
  { value: "examples", name: "Learn from examples" },
];

/** Fields by selectors, or by rules learned from examples. */
export function Playground({
  state,
  at: { page, setPage },
  learn,
}: {
  state: NewState;
  at: PlaygroundPage;
  learn: LearnState;
}) {
  const [search, setSearch] = useSearchParams();
  const narrow = useNarrow();
  const mode = search.get("mode") === "examples" ? "examples" : "select";
  const setMode = (value: string) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        next.delete("pane");
        if (value === "select") next.delete("mode");
        else next.set("mode", value);
        return next;
      },
      { replace: true },
    );
  const choose = (value: string) => {
    if (value === "examples" && learn.pages.length === 0 && page !== null) learn.addPages([page]);
    setMode(value);
  };
  return (
    <div className="stack">
      <div className="row">
        <Segmented label="How fields are found" value={mode} choices={MODES} onChange={choose} />
      </div>
      {mode === "examples" ? (
        <Learn
          state={state}
          learn={learn}
          isNarrow={narrow}
          onUsed={(shown) => {
            setPage(shown);
            setMode("select");
          }}
        />
      ) : (
        <Selectors state={state} at={{ page, setPage }} narrow={narrow} />
      )}
    </div>
  );
}

function Selectors({ state, at: { page, setPage }, narrow }: { state: NewState; at: PlaygroundPage; narrow: boolean }) {
  const { form } = state;
  const preview = usePreview(page, form);
  const [focused, setFocused] = useState<number | null>(null);
  const [armed, setArmed] = useState<number | null>(null);
  const rules = { state, preview, focused, setFocused, armed, setArmed };
  const view = page === null ? null : <PageView {...rules} page={page} />;
  const [fetching, setFetching] = useState(false);
  const fields = <RuleList {...rules} page={page} />;
  const records = <Records found={preview.found} names={form.rules.map(({ name }) => name)} />;
  return (
    <>
      <FetchBar state={state} page={page} setPage={setPage} busy={fetching} setBusy={setFetching} />
      {page === null && fetching ? (
        <EmptyState icon="bolt" title="Fetching the page …">
          Pages that need a browser take longer, and so do actions such as scrolling to the end.
        </EmptyState>
      ) : page === null ? (
        <EmptyState icon="bolt" title="Fetch a page to start">
          Then click the values you want: each click adds a field with a selector and shows its value. Nothing is stored
          until you save or run it.
        </EmptyState>
      ) : narrow ? (
        <Tabs
          label="Playground"
          param="pane"
          tabs={[
            { id: "page", name: "Page", panel: () => view },
            { id: "fields", name: "Fields", count: form.rules.length, panel: () => fields },
            { id: "records", name: "Records", count: preview.found?.records.length ?? 0, panel: () => records },
          ]}
        />
      ) : (
        <>
          <div className="playground">
            {view}
            {fields}
          </div>
          {records}
        </>
      )}
    </>
  );
}

/** The sample page; of a crawl it may be any page. */
function FetchBar({
  state: { form, change },
  page,
  setPage,
  busy,
  setBusy,
}: { state: NewState; busy: boolean; setBusy: (busy: boolean) => void } & PlaygroundPage) {
  const [url, setUrl] = useState(page?.url ?? lines(form.url)[0] ?? "");
  const [error, setError] = useState<unknown>(null);
  const get = async (event?: FormEvent) => {
    event?.preventDefault();
    if (url.trim() === "") return setError(new Error("Paste the URL of a page above."));
    setBusy(true);
    setError(null);
    try {
      setPage(await fetchPage(url.trim(), form));
      if (lines(form.url).length === 0) change({ url: url.trim() });
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <form className="fetch-bar" onSubmit={(event) => void get(event)}>
        <Input
          bare
          label="Sample page"
          className="control mono"
          placeholder="https://example.com/product/1"
          inputMode="url"
          spellCheck={false}
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        <div className="fetch-session">
          <SessionChoice bare urls={[url]} value={form.session} onChange={(session) => change({ session })} />
        </div>
        <Button
          type="submit"
          kind={page === null ? "primary" : "plain"}
          needs="previewExtraction"
          busy={busy}
          icon="download"
        >
          {page === null ? "Fetch page" : "Fetch again"}
        </Button>
      </form>
      {error === null ? null : <ErrorBox error={error} />}
      {page === null || error !== null ? null : <FetchedFacts page={page} />}
    </>
  );
}

/** The site's response, and how it was fetched. */
function FetchedFacts({ page: { status, url, asked, strategy, warning } }: { page: FetchedPage }) {
  return (
    <div className="fetched stack new-tight">
      <p className="soft wrap" role="status">
        {status === null ? "" : `HTTP ${status} · `}
        {strategy === null ? "" : `${strategy === "http" ? "plain request" : strategy} · `}
        {asked === null ? (
          <span className="mono">{url}</span>
        ) : (
          <>
            <span className="mono">{asked}</span> redirected to <span className="mono">{url}</span>
          </>
        )}
      </p>
      {warning === null ? null : (
        <p className="fetched-warning" role="alert">
          <Icon name="warning" />
          <span className="wrap">{capital(warning)}. Choose a session to fetch the page signed in.</span>
        </p>
      )}
    </div>
  );
}

interface RulesProps {
  state: NewState;
  preview: Preview;
  focused: number | null;
  setFocused: (key: number | null) => void;
  /** The field that the next click fills; null: a new one. */
  armed: number | null;
  setArmed: (key: number | null) => void;
}

function PageView({ state, page, focused, setFocused, armed, setArmed }: RulesProps & { page: FetchedPage }) {
  const { form, change } = state;
  const [isList, setIsList] = useState(form.items.text !== "");
  const [note, setNote] = useState("");
  const rule = form.rules.find(({ key }) => key === focused);
  const items = form.items.way === "css" ? form.items.text : "";
  const latest = useRef({ form, isList, armed });
  latest.current = { form, isList, armed };
  const onPicked = async (picked: Picked) => {
    const now = latest.current;
    const result = await pickField(picked, now.isList ? { items } : null, frame.ask);
    if (typeof result === "string") return setNote(result);
    const { rules } = now.form;
    const target = rules.find(({ key }) => key === now.armed);
    const key = target?.key ?? nextKey(rules);
    const values = { way: "css" as const, text: result.selector, attr: result.attr, type: result.type };
    change({
      rules:
        target === undefined
          ? [...rules, newRule(key, { ...values, name: freeName(result.name, rules) })]
          : rules.map((one) =>
              one.key === key ? { ...one, ...values, type: one.type === "" ? values.type : one.type } : one,
            ),
      ...(result.items === null ? {} : { items: { ...NO_ITEMS, text: result.items } }),
    });
    setFocused(key);
    setArmed(null);
    setNote(`${target === undefined ? "Added" : "Changed"}: ${result.selector}`);
  };
  const frame = useFrame({
    html: pageHtml(page),
    marked: { selector: rule?.way === "css" ? rule.text : "", items },
    onPicked: (picked) => void onPicked(picked),
  });
  return (
    <Card
      className="page-view"
      title={
        <span className="truncate" title={page.url}>
          {page.title ?? page.url}
        </span>
      }
      actions={
        page.isJson ? null : (
          <Segmented
            label="Records on the page"
            value={isList ? "list" : "one"}
            choices={[
              { value: "one", name: "One record" },
              { value: "list", name: "List of records" },
            ]}
            onChange={(value) => {
              setIsList(value === "list");
              if (value === "one") change({ items: NO_ITEMS });
            }}
          />
        )
      }
      flush
    >
      <p className="page-note soft" role="status" aria-live="polite">
        {note !== ""
          ? note
          : page.isJson
            ? "This is JSON: select values with JSONPath."
            : isList
              ? "Click a value in any item of the list. Similar items are found automatically."
              : "Click a value to add it as a field, or enter a selector."}
      </p>
      <HtmlFrame frame={frame} label="Page preview, without scripts" flush />
    </Card>
  );
}

function RuleList({ state, preview, page, setFocused, armed, setArmed }: RulesProps & { page: FetchedPage | null }) {
  const { form, change, errors } = state;
  const { found, problem } = preview;
  const names = form.rules.map(({ name }) => name);
  const wrong = ruleProblems(form.rules);
  const serverProblems = problemsByRule(problem?.fields ?? [], names);
  const list = useRef<HTMLUListElement>(null);
  const count = useRef(form.rules.length);
  useEffect(() => {
    if (form.rules.length > count.current) list.current?.lastElementChild?.scrollIntoView({ block: "nearest" });
    count.current = form.rules.length;
  }, [form.rules.length]);
  const set = (key: number, more: Partial<Rule>) =>
    change({ rules: form.rules.map((rule) => (rule.key === key ? { ...rule, ...more } : rule)) });
  const add = () => {
    const key = nextKey(form.rules);
    change({
      rules: [
        ...form.rules,
        newRule(key, { name: freeName("field", form.rules), way: page?.isJson === true ? "jsonpath" : "css" }),
      ],
    });
  };
  return (
    <Card
      title="Fields"
      actions={
        <Button size="small" icon="plus" onClick={add}>
          Add field
        </Button>
      }
      className="rules-card"
    >
      <div className="stack new-tight">
        <Input
          label="Items"
          help="If the page has several records: a CSS selector that matches each of them. Fields are read within each match."
          className="control mono"
          placeholder="one record per page"
          spellCheck={false}
          error={errors.items}
          value={form.items.text}
          onChange={({ target }) =>
            change({
              items: { ...form.items, way: page?.isJson === true ? "jsonpath" : form.items.way, text: target.value },
            })
          }
        />
        {form.rules.length === 0 ? (
          <p className="soft">No fields yet. Without fields, title, author, date and text are extracted.</p>
        ) : (
          <ul className="rules" ref={list}>
            {form.rules.map((rule, n) => (
              <RuleRow
                key={rule.key}
                rule={rule}
                number={n + 1}
                isArmed={armed === rule.key}
                error={wrong.get(rule.key) ?? serverProblems.get(rule.name)}
                found={found === null || wrong.has(rule.key) ? null : describeFound(rule.name, found)}
                onChange={(more) => set(rule.key, more)}
                onRemove={() => change({ rules: form.rules.filter(({ key }) => key !== rule.key) })}
                onFocus={() => setFocused(rule.key)}
                onArm={() => setArmed(armed === rule.key ? null : rule.key)}
              />
            ))}
          </ul>
        )}
        {serverProblems.get("") === undefined ? null : <p className="field-error wrap">{serverProblems.get("")}</p>}
        <details className="schema-box" open={form.schema !== ""}>
          <summary>Check each record against a JSON Schema</summary>
          <Textarea
            bare
            label="JSON Schema of a record"
            className="control control-area mono"
            rows={5}
            spellCheck={false}
            error={errors.schema}
            value={form.schema}
            placeholder={'{"type": "object", "required": ["price"]}'}
            onChange={({ target }) => change({ schema: target.value })}
          />
        </details>
      </div>
    </Card>
  );
}
