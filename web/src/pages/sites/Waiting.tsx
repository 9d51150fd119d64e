import type { Site } from "../../api/types.ts";
import { withoutTime } from "../../logic/format.ts";
import { Time } from "../../ui/Values.tsx";

/** Why nothing goes on, and until when. */
export function Waiting({ waiting }: { waiting: NonNullable<Site["waiting_for"]> }) {
  const { message, until } = waiting;
  if (until === null) return <>{message}</>;
  return (
    <>
      Again <Time at={until} /> · {withoutTime(message)}
    </>
  );
}
