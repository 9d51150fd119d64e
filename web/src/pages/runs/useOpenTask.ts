import { useState } from "react";
import { useSearchParams } from "wouter";
import type { Task } from "./Pages.tsx";

/** The page whose details are shown stands in the address (`?task=`): it is one of `rows`, or the one that was opened. */
export function useOpenTask(rows: readonly Task[]) {
  const [search, setSearch] = useSearchParams();
  const [last, setLast] = useState<Task | null>(null);
  const id = search.get("task");
  const open = (next: Task | null) => {
    setLast(next);
    setSearch(
      (old) => {
        const given = new URLSearchParams(old);
        if (next === null) given.delete("task");
        else given.set("task", next.id);
        return given;
      },
      { replace: true },
    );
  };
  // What is known now, not what was known when it was opened; and what was known once it is not listed any more.
  const task = id === null ? null : (rows.find((row) => row.id === id) ?? (last?.id === id ? last : null));
  return { task, isSought: id !== null && task === null, open };
}
