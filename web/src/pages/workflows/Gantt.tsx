/** Start and duration of each step. */
import { ganttOf } from "./logic/gantt.ts";
import type { FlowStep } from "./logic/flow-steps.ts";
import { duration } from "../../logic/format.ts";
import { serverNow } from "../../logic/server-time.ts";
import { lookOf } from "../../logic/states.ts";
import { Card } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { EmptyState } from "../../ui/States.tsx";
import { useNow } from "../../ui/Values.tsx";
import "./gantt.css";

export function Gantt({ steps, onSelect }: { steps: readonly FlowStep[]; onSelect: (name: string) => void }) {
  const shownNow = useNow();
  const isMoving = steps.some(({ status }) => status === "running" || status === "retrying");
  const { bars, ticks, ms } = ganttOf(steps, isMoving ? Math.max(shownNow, serverNow()) : shownNow);
  if (ms === 0)
    return (
      <Card>
        <EmptyState icon="clock" title="No step has started yet">
          This timeline shows which steps take long and which wait for others.
        </EmptyState>
      </Card>
    );
  return (
    <Card flush>
      <div className="gantt">
        <div className="gantt-scale" aria-hidden="true">
          {ticks.map(({ at, name }) => (
            <span key={name} style={{ left: `${at * 100}%` }} className={at > 0.94 ? "gantt-last" : ""}>
              {name}
            </span>
          ))}
        </div>
        <ol aria-label="Steps by time">
          {bars.map(({ index, name, status, at }) => {
            const look = lookOf(status);
            return (
              <li key={name} className={`tone-${look.tone}`}>
                <button type="button" className="gantt-name" onClick={() => onSelect(name)}>
                  <span className="gantt-sign">
                    <Icon name={look.shape} size={12} spin={look.shape === "spin"} />
                  </span>
                  <span className="truncate" title={name}>
                    {name}
                  </span>
                  <span className="spoken">{` ${look.word}`}</span>
                </button>
                <span className="gantt-time num">{at === null ? look.word : duration(at.ms)}</span>
                <span className="gantt-row" aria-hidden="true">
                  {ticks.map((tick) => (
                    <i key={tick.name} style={{ left: `${tick.at * 100}%` }} />
                  ))}
                  {at === null ? null : (
                    <b
                      className={`gantt-bar gantt-${status}`}
                      style={{ left: `${at.left * 100}%`, width: `max(3px, ${at.width * 100}%)` }}
                      title={`${index + 1}. ${name}: ${duration(at.ms)}`}
                    />
                  )}
                </span>
              </li>
            );
          })}
        </ol>
      </div>
    </Card>
  );
}
