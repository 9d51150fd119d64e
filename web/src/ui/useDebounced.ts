import { useEffect, useRef, useState } from "react";
import { Debouncer } from "./logic/debouncer.ts";

/** Debounces reloads caused by the stream. Returns the function that requests one. */
export function useDebounced(act: () => void, { soonMs, restMs }: { soonMs: number; restMs: number }): () => void {
  const latest = useRef({ act, restMs });
  latest.current = { act, restMs };
  const [soon] = useState(
    () => new Debouncer(() => latest.current.act(), { soonMs, restMs: () => latest.current.restMs }),
  );
  useEffect(() => () => soon.stop(), [soon]);
  const [ask] = useState(() => () => soon.ask());
  return ask;
}
