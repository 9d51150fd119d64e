/** Rules from examples: pages in their sandbox, the wanted values, and the rules that find them. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Segmented } from "../../../ui/Field.tsx";
import { HtmlFrame } from "../../../ui/text/HtmlFrame.tsx";
import { EmptyState } from "../../../ui/States.tsx";
import { Tabs } from "../../../ui/Tabs.tsx";
import { toast } from "../../../ui/overlay/Toast.tsx";
import { type Frame, type Picked, useFrame } from "../../../ui/text/useFrame.ts";
import { formWithRules, withClick } from "../logic/examples.ts";
import { asText } from "../logic/found.ts";
import { pageHtml } from "../logic/page-html.ts";
import type { NewState } from "../useNew.ts";
import type { FetchedPage } from "../usePreview.ts";
import { AddPages } from "./AddPages.tsx";
import { Examples } from "./Examples.tsx";
import { Learned, markedOf } from "./Learned.tsx";
import type { LearnPage, LearnState } from "./useLearn.ts";
import "./learn.css";

export function Learn({
  state,
  learn,
  isNarrow,
  onUsed,
}: {
  state: NewState;
  learn: LearnState;
  isNarrow: boolean;
  /** The rules are in the form; the page that shows them. */
  onUsed: (page: FetchedPage) => void;
}) {
  const { page, lesson, choice } = learn;
  const [focused, setFocused] = useState<string | null>(null);
  const use = () => {
    if (lesson === null || page === null) return;
    const { rules, items } = formWithRules(state.form, lesson, choice);
    state.change({ rules, items });
    learn.markUsed();
    toast(rules.length === 1 ? "The form has 1 field." : `The form has ${rules.length} fields.`);
    onUsed(page);
  };
  const withFocus: LearnState = {
    ...learn,
    choose: (field, index) => {
      setFocused(field);
      learn.choose(field, index);
    },
  };
  const locate = useRef<Frame["locate"] | null>(null);
  const view =
    page === null ? null : (
      <ExampleView learn={learn} page={page} marked={markedOf(lesson, choice, focused)} locate={locate} />
    );
  const examples = <Examples learn={learn} locate={locate} />;
  const learned = <Learned state={state} learn={withFocus} />;
  return (
    <>
      <AddPages state={state} learn={learn} />
      {page === null ? (
        <EmptyState icon="bolt" title="Fetch a page with values you know">
          Then click or type the values you want. Rules that find them are learned from one to five pages of the same
          kind. Nothing is stored until you save or run it.
        </EmptyState>
      ) : isNarrow ? (
        <Tabs
          label="Examples"
          param="pane"
          tabs={[
            { id: "page", name: "Page", panel: () => view },
            {
              id: "fields",
              name: "Examples",
              count: learn.fields.length,
              panel: () => (
                <div className="stack">
                  {/* Finds typed values. */}
                  <div hidden>{view}</div>
                  {examples}
                  {learned}
                </div>
              ),
            },
          ]}
        />
      ) : (
        <>
          <div className="playground">
            {view}
            {examples}
          </div>
          {learned}
        </>
      )}
      {learn.isUnused ? (
        <div className="row new-actions">
          {lesson !== null && Object.values(lesson.alternatives).some((rules) => rules.length > 0) ? (
            <>
              <Button kind="primary" icon="check" onClick={use}>
                Use these rules
              </Button>
              <span className="soft">Then start or save it.</span>
            </>
          ) : (
            <span className="soft">Learn the rules first, then start or save it.</span>
          )}
        </div>
      ) : null}
    </>
  );
}

function ExampleView({
  learn,
  page,
  marked,
  locate,
}: {
  learn: LearnState;
  page: LearnPage;
  marked: { selector: string; items: string };
  locate: RefObject<Frame["locate"] | null>;
}) {
  const { isList, setIsList } = learn;
  const [note, setNote] = useState("");
  const latest = useRef({ learn, page });
  latest.current = { learn, page };
  // It was about another page, or another kind of record.
  useEffect(() => setNote(""), [page.key, isList]);
  const onPicked = (picked: Picked) => {
    const { learn: now, page: shown } = latest.current;
    const result = withClick(now.fields, picked, { page: shown.key, armed: now.armed, isList: now.isList });
    if (typeof result === "string") return setNote(result);
    now.setFields(result.fields);
    if (now.armed?.once === true) now.setArmed(null);
    setNote(`${result.name}: ${asText(result.text)}`);
  };
  const frame = useFrame({ html: pageHtml(page), marked, ...(page.isJson ? {} : { onPicked }) });
  useEffect(() => {
    locate.current = page.isJson ? null : frame.locate;
    return () => {
      locate.current = null;
    };
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
        <Segmented
          label="Records on the page"
          value={isList ? "list" : "one"}
          choices={[
            { value: "one", name: "One record" },
            { value: "list", name: "List of records" },
          ]}
          onChange={(value) => setIsList(value === "list")}
        />
      }
      flush
    >
      <p className="page-note soft" role="status" aria-live="polite">
        {note !== ""
          ? note
          : page.isJson
            ? "This is JSON: type values as they are in it."
            : isList
              ? "Click the values of the first two records: two of each field."
              : "Click a value to add it as an example, or type it."}
      </p>
      <HtmlFrame frame={frame} label="Page preview, without scripts" flush />
    </Card>
  );
}
