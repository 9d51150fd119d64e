import { useEffect, useId, useRef } from "react";
import { capital, plainUrl, shorten } from "../../../logic/format.ts";
import { ruleText } from "../../../logic/rule-text.ts";
import { Card } from "../../../ui/Card.tsx";
import { chosenRules, formWithRules } from "../logic/examples.ts";
import { asText } from "../logic/found.ts";
import type { NewState } from "../useNew.ts";
import type { LearnState, Lesson } from "./useLearn.ts";

const SHOWN = 5;

/** The learned rules of each field, their alternatives, and what each finds on the pages. */
export function Learned({
  state: { form },
  learn: { lesson, choice, choose, fields: examples },
}: {
  state: NewState;
  learn: LearnState;
}) {
  const top = useRef<HTMLDivElement>(null);
  const isLearned = lesson !== null;
  // It appears below what was clicked.
  useEffect(() => {
    if (isLearned) top.current?.scrollIntoView({ block: "nearest" });
  }, [isLearned]);
  if (lesson === null) return null;
  const fields = Object.entries(lesson.alternatives).filter(([, rules]) => rules.length > 0);
  const { dropped } = formWithRules(form, lesson, choice);
  const records = lesson.record_counts.reduce((sum, count) => sum + count, 0);
  return (
    <Card title="Learned rules">
      <div className="stack new-tight" ref={top}>
        <p role="status">
          {fields.length === 0
            ? "No rule finds these examples."
            : `Rules for ${fields.length} of ${examples.length} ${examples.length === 1 ? "field" : "fields"}; they find ${
                records === 1 ? "1 record" : `${records} records`
              } on ${lesson.pages.length === 1 ? "this page" : `these ${lesson.pages.length} pages`}.`}
        </p>
        {lesson.items === null ? null : (
          <p>
            Records are read from <code>{ruleText(lesson.items)}</code>
          </p>
        )}
        {lesson.problems.map(({ field, page, message }) => (
          <p key={`${field} ${page} ${message}`} className="field-error wrap">
            {field}: {page === null ? "" : `page ${page + 1}: `}
            {message}
          </p>
        ))}
        {dropped.length === 0 ? null : (
          <p className="soft wrap">
            Not kept, because they belong to other records: <code>{dropped.join(", ")}</code>
          </p>
        )}
        <div className="learned">
          {fields.map(([field, rules]) => (
            <Alternatives
              key={field}
              field={field}
              rules={rules}
              lesson={lesson}
              chosen={choice[field] ?? 0}
              onChoose={(index) => choose(field, index)}
            />
          ))}
        </div>
      </div>
    </Card>
  );
}

/** The highlighted matches: of the first rule with a CSS selector. */
export function markedOf(lesson: Lesson | null, choice: Readonly<Record<string, number>>, field: string | null) {
  if (lesson === null || field === null) return { selector: "", items: "" };
  const css = (rule: unknown) => {
    const text = (rule as { css?: unknown } | null)?.css;
    return typeof text === "string" ? text : "";
  };
  return { selector: css(chosenRules(lesson, choice)[field] ?? null), items: css(lesson.items) };
}

function Alternatives({
  field,
  rules,
  lesson,
  chosen,
  onChoose,
}: {
  field: string;
  rules: Lesson["alternatives"][string];
  lesson: Lesson;
  chosen: number;
  onChoose: (index: number) => void;
}) {
  const id = useId();
  // A page gives one value, unless it is a list of records.
  const isByPage = lesson.items === null && rules.every(({ values }) => values.length === lesson.pages.length);
  return (
    <fieldset className="learned-field" aria-label={`Rules of ${field}`}>
      <legend>{field}</legend>
      {rules.map(({ rule, score, values }, index) => (
        <div key={index} className="learned-rule">
          <input
            type="radio"
            id={`${id}-${index}`}
            name={id}
            checked={index === chosen}
            aria-describedby={`${id}-${index}-values`}
            onChange={() => onChoose(index)}
          />
          <label htmlFor={`${id}-${index}`} className="wrap">
            <code>{ruleText(rule)}</code> <span className="soft num">score {score.toFixed(2)}</span>
          </label>
          <div className="rule-found" id={`${id}-${index}-values`}>
            {values.slice(0, SHOWN).map((value, n) => {
              const { url = null } = (isByPage ? lesson.pages[n] : undefined) ?? {};
              const where = url === null ? "" : `${capital(shorten(plainUrl(url), 60))}: `;
              return value === null ? (
                <span key={n} className="rule-nothing" title={where}>
                  nothing
                </span>
              ) : (
                <code key={n} className="rule-value" title={`${where}${asText(value)}`}>
                  {asText(value)}
                </code>
              );
            })}
            {values.length > SHOWN ? <span className="soft">and {values.length - SHOWN} more</span> : null}
          </div>
        </div>
      ))}
    </fieldset>
  );
}
