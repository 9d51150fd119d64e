import { useEffect, useRef, useState } from "react";
import { Soon } from "./logic/soon.ts";

/** For what is loaded again because of what the stream tells: soon, but not all the time. Returns what asks for it. */
export function useSoon(act: () => void, { soonMs, restMs }: { soonMs: number; restMs: number }): () => void {
  const latest = useRef({ act, restMs });
  latest.current = { act, restMs };
  const [soon] = useState(() => new Soon(() => latest.current.act(), { soonMs, restMs: () => latest.current.restMs }));
  useEffect(() => () => soon.stop(), [soon]);
  const [ask] = useState(() => () => soon.ask());
  return ask;
}
