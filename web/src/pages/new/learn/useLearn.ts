/** Pages and example values of the playground, and the rules learned from them. */
import { useRef, useState } from "react";
import { type Answer, call } from "../../../api/client.ts";
import { type Armed, type ExampleField, learnOrder, nextOf } from "../logic/examples.ts";
import type { FetchedPage } from "../usePreview.ts";

export type LearnPage = FetchedPage & { key: number };
export type Lesson = Answer<"learnRules">;

export interface LearnState {
  pages: readonly LearnPage[];
  /** The shown page; null: there is none. */
  page: LearnPage | null;
  show: (key: number) => void;
  addPages: (pages: readonly FetchedPage[]) => void;
  removePage: (key: number) => void;
  fields: readonly ExampleField[];
  setFields: (fields: readonly ExampleField[]) => void;
  armed: Armed | null;
  setArmed: (armed: Armed | null) => void;
  isList: boolean;
  setIsList: (isList: boolean) => void;
  /** Of these examples; null: not learned yet. */
  lesson: Lesson | null;
  /** By field, the index of the chosen alternative. */
  choice: Readonly<Record<string, number>>;
  choose: (field: string, index: number) => void;
  busy: boolean;
  error: unknown;
  learn: () => Promise<void>;
}

export function useLearn(): LearnState {
  const [pages, setPages] = useState<readonly LearnPage[]>([]);
  const [shown, setShown] = useState<number | null>(null);
  const [fields, setFields] = useState<readonly ExampleField[]>([]);
  const [armed, setArmed] = useState<Armed | null>(null);
  const [isList, setIsList] = useState(false);
  const [lesson, setLesson] = useState<Lesson | null>(null);
  const [choice, setChoice] = useState<Readonly<Record<string, number>>>({});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // An answer to examples that were changed meanwhile is dropped.
  const asked = useRef(0);
  const forget = () => {
    asked.current += 1;
    setLesson(null);
    setChoice({});
    setError(null);
    setBusy(false);
  };
  return {
    pages,
    page: pages.find(({ key }) => key === shown) ?? pages[0] ?? null,
    show: setShown,
    addPages: (more) => {
      const first = nextOf(pages);
      const added = more.map((page, n) => ({ ...page, key: first + n }));
      setPages([...pages, ...added]);
      if (added[0] !== undefined) setShown(added[0].key);
      forget();
    },
    removePage: (key) => {
      setPages(pages.filter((page) => page.key !== key));
      setFields(fields.map((field) => ({ ...field, values: field.values.filter(({ page }) => page !== key) })));
      forget();
    },
    fields,
    setFields: (next) => {
      setFields(next);
      forget();
    },
    armed,
    setArmed,
    isList,
    setIsList,
    lesson,
    choice,
    choose: (field, index) => setChoice((old) => ({ ...old, [field]: index })),
    busy,
    error,
    learn: async () => {
      forget();
      const number = asked.current;
      const isWanted = () => asked.current === number;
      setBusy(true);
      try {
        const answer = await call("learnRules", { body: learnOrder(pages, fields) });
        if (isWanted()) setLesson(answer);
      } catch (failed) {
        if (isWanted()) setError(failed);
      } finally {
        if (isWanted()) setBusy(false);
      }
    },
  };
}
