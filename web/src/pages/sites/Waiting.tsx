import { exactTime } from "../../logic/format.ts";
import { serverNow } from "../../logic/server-time.ts";
import { shortWhyWords, type Waits, whenWords, whyWords } from "../../logic/waiting.ts";
import { useNow } from "../../ui/Values.tsx";

/** Why it waits, and until when. */
export function Waiting({ waiting, short = false }: { waiting: Waits; short?: boolean }) {
  useNow();
  const when = whenWords(waiting, serverNow());
  return (
    <>
      {short && when !== null ? shortWhyWords(waiting) : whyWords(waiting)}
      {when === null || waiting.until === null ? null : (
        <>
          {" · "}
          <time dateTime={waiting.until} title={exactTime(Date.parse(waiting.until))} className="num">
            {when}
          </time>
        </>
      )}
    </>
  );
}
