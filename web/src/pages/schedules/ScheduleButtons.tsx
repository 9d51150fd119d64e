import { useLocation } from "wouter";
import { useChange } from "../../api/query.ts";
import type { Schedule } from "../../api/types.ts";
import { runHref } from "../../logic/overview.ts";
import { scheduleTitle } from "./schedules.ts";
import { Button } from "../../ui/Button.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";

export function useScheduleActions() {
  const [, go] = useLocation();
  const options = { invalidates: ["listSchedules", "listSlots", "listRuns"] as const, onError: toastError };
  const pause = useChange("pauseSchedule", options);
  const resume = useChange("resumeSchedule", options);
  const start = useChange("startRun", options);
  return {
    /** The job that is being started. */
    starting: start.isPending ? start.variables.params.job_id : null,
    pause: (schedule: Schedule) =>
      pause.mutate(
        { params: { job_id: schedule.job_id } },
        {
          onSuccess: () =>
            toast(`${scheduleTitle(schedule)} is paused`, "good", {
              name: "Undo",
              run: () => resume.mutate({ params: { job_id: schedule.job_id } }),
            }),
        },
      ),
    resume: (schedule: Schedule) =>
      resume.mutate(
        { params: { job_id: schedule.job_id } },
        { onSuccess: () => toast(`${scheduleTitle(schedule)} is scheduled again`) },
      ),
    start: (schedule: Schedule) =>
      start.mutate(
        { params: { job_id: schedule.job_id } },
        {
          onSuccess: (run) =>
            toast(`${scheduleTitle(schedule)} has been started`, "good", {
              name: "See the run",
              run: () => go(runHref(run)),
            }),
        },
      ),
  };
}

export type ScheduleActions = ReturnType<typeof useScheduleActions>;

export function ScheduleButtons({ schedule, actions }: { schedule: Schedule; actions: ScheduleActions }) {
  const title = scheduleTitle(schedule);
  return (
    <span className="schedule-buttons">
      <Button
        size="small"
        icon="runs"
        needs="startRun"
        aria-label={`Run now: ${title}`}
        busy={actions.starting === schedule.job_id}
        onClick={() => actions.start(schedule)}
      >
        Run now
      </Button>
      {schedule.paused ? (
        <Button
          size="small"
          needs="resumeSchedule"
          aria-label={`Resume ${title}`}
          onClick={() => actions.resume(schedule)}
        >
          Resume
        </Button>
      ) : (
        <Button
          size="small"
          needs="pauseSchedule"
          aria-label={`Pause ${title}`}
          onClick={() => actions.pause(schedule)}
        >
          Pause
        </Button>
      )}
    </span>
  );
}
