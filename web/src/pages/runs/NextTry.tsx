import { serverNow } from "../../logic/server-time.ts";
import { isDue } from "../../logic/waiting.ts";
import { Time, useNow } from "../../ui/Values.tsx";

/** When a page is retried. */
export function NextTry({ at }: { at: string }) {
  useNow();
  return isDue(at, serverNow()) ? "as soon as the site allows" : <Time at={at} />;
}
