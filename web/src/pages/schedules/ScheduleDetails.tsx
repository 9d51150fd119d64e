import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import type { Schedule } from "../../api/types.ts";
import { sentence } from "../../logic/format.ts";
import { cronWords, MISSED_WORDS, OVERLAP_WORDS, scheduleTitle, zonedTime } from "./schedules.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { KeyValue } from "../../ui/Card.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { type ScheduleActions, ScheduleButtons } from "./ScheduleButtons.tsx";

/** The next five occurrences of a schedule, and the outcome of the last ones. */
export function ScheduleDetails({
  schedule,
  onClose,
  actions,
}: {
  schedule: Schedule | null;
  onClose: () => void;
  actions: ScheduleActions;
}) {
  return (
    <Dialog
      open={schedule !== null}
      onClose={onClose}
      title={schedule === null ? "" : scheduleTitle(schedule)}
      side
      actions={schedule === null ? undefined : <ScheduleButtons schedule={schedule} actions={actions} />}
    >
      {schedule === null ? null : <Body schedule={schedule} />}
    </Dialog>
  );
}

function Body({ schedule }: { schedule: Schedule }) {
  const { job_id, cron, timezone, paused, next_times, overlap, missed, jitter_seconds } = schedule;
  const occurrences = useCall("listSlots", { params: { job_id }, query: { limit: 20 } }, { refetchInterval: 10_000 });
  return (
    <div className="stack">
      <section>
        <h3>Next runs</h3>
        {paused ? (
          <p className="soft">Paused: no run starts until you resume it.</p>
        ) : next_times.length === 0 ? (
          <p className="soft">The expression matches no future time.</p>
        ) : null}
        <ol className="schedule-times" aria-label="Next runs">
          {next_times.map((at) => (
            <li key={at}>
              <span className="num">{zonedTime(at, timezone)}</span>
              <span className="soft">
                <Time at={at} />
              </span>
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h3>Past scheduled runs</h3>
        {occurrences.error !== null ? (
          <ErrorBox error={occurrences.error} onRetry={() => void occurrences.refetch()} />
        ) : occurrences.data === undefined ? (
          <Skeleton lines={4} />
        ) : occurrences.data.length === 0 ? (
          <p className="soft">None yet.</p>
        ) : (
          <ul className="schedule-slots">
            {occurrences.data.map(({ at, until, count, outcome, run_id, message, noted_at }) => (
              <li key={`${at} ${noted_at}`}>
                <div className="spread">
                  <span className="num">
                    {zonedTime(at, timezone)}
                    {count > 1 ? ` to ${zonedTime(until, timezone)} (${count} times)` : ""}
                  </span>
                  {run_id === null ? (
                    <StatusBadge status={outcome} />
                  ) : (
                    <Link href={schedule.kind === "workflow" ? `/workflows/${run_id}` : `/runs/${run_id}`}>
                      <StatusBadge status={outcome} title="Show the run" />
                    </Link>
                  )}
                </div>
                {message === null ? null : <p className="soft wrap">{message}</p>}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section>
        <h3>Settings</h3>
        <KeyValue
          pairs={[
            {
              name: "Schedule",
              value: (
                <>
                  <code>{cron}</code>{" "}
                  {cronWords(cron) === null ? null : <span className="soft">{cronWords(cron)}</span>}
                </>
              ),
            },
            { name: "Time zone", value: timezone },
            { name: "Overlap", value: sentence(OVERLAP_WORDS[overlap]) },
            { name: "If the server was off", value: sentence(MISSED_WORDS[missed]) },
            jitter_seconds === 0 ? null : { name: "Random delay", value: `up to ${jitter_seconds} s` },
            { name: "Job", value: <code className="wrap">{job_id}</code> },
          ]}
        />
      </section>
    </div>
  );
}
