/** Pages and example values of the playground, and the rules learned from them. */
import { type SetStateAction, useRef, useState } from "react";
import { type Answer, call } from "../../../api/client.ts";
import { type Armed, type ExampleField, learnOrder, MOST_PAGES } from "../logic/examples.ts";
import type { FetchedPage } from "../usePreview.ts";

export type LearnPage = FetchedPage & { key: number };
export type Lesson = Answer<"learnRules">;

export interface LearnState {
  pages: readonly LearnPage[];
  /** The shown page; null: there is none. */
  page: LearnPage | null;
  show: (key: number) => void;
  /** Those beyond `MOST_PAGES` are left out. */
  addPages: (pages: readonly FetchedPage[]) => void;
  /** Pages are being fetched; also while another view is shown. */
  adding: boolean;
  setAdding: (adding: boolean) => void;
  removePage: (key: number) => void;
  fields: readonly ExampleField[];
  setFields: (fields: SetStateAction<readonly ExampleField[]>) => void;
  armed: Armed | null;
  setArmed: (armed: Armed | null) => void;
  isList: boolean;
  setIsList: (isList: boolean) => void;
  /** Of these examples; null: not learned yet. */
  lesson: Lesson | null;
  /** By field, the index of the chosen alternative. */
  choice: Readonly<Record<string, number>>;
  choose: (field: string, index: number) => void;
  /** There are examples whose rules are not in the form: a run or job would do without them. */
  isUnused: boolean;
  markUsed: () => void;
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
  const [isUsed, setIsUsed] = useState(false);
  const [adding, setAdding] = useState(false);
  // Pages may be added while others are fetched: no two have the same key.
  const lastKey = useRef(0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // An answer to examples that were changed meanwhile is dropped.
  const asked = useRef(0);
  const forget = () => {
    asked.current += 1;
    setLesson(null);
    setChoice({});
    setIsUsed(false);
    setError(null);
    setBusy(false);
  };
  return {
    pages,
    page: pages.find(({ key }) => key === shown) ?? pages[0] ?? null,
    show: setShown,
    addPages: (more) => {
      const added = more.map((page) => ({ ...page, key: (lastKey.current += 1) }));
      setPages((old) => [...old, ...added].slice(0, MOST_PAGES));
      if (added[0] !== undefined) setShown(added[0].key);
      forget();
    },
    removePage: (key) => {
      setPages((old) => old.filter((page) => page.key !== key));
      setFields((old) => old.map((field) => ({ ...field, values: field.values.filter(({ page }) => page !== key) })));
      forget();
    },
    adding,
    setAdding,
    fields,
    setFields: (next) => {
      setFields(next);
      forget();
    },
    armed,
    setArmed,
    isList,
    setIsList: (next) => {
      setIsList(next);
      forget();
    },
    lesson,
    choice,
    choose: (field, index) => {
      setChoice((old) => ({ ...old, [field]: index }));
      setIsUsed(false);
    },
    isUnused: !isUsed && fields.some(({ values }) => values.length > 0),
    markUsed: () => setIsUsed(true),
    busy,
    error,
    learn: async () => {
      forget();
      const number = asked.current;
      const isWanted = () => asked.current === number;
      setBusy(true);
      try {
        const answer = await call("learnRules", { body: learnOrder(pages, fields, isList) });
        if (isWanted()) setLesson(answer);
      } catch (failed) {
        if (isWanted()) setError(failed);
      } finally {
        if (isWanted()) setBusy(false);
      }
    },
  };
}
