import type { VNode } from "preact";
import { exactDate, timeOf } from "../times.ts";

/** When something happened. The title has the date and milliseconds; `.` shows seconds everywhere. */
export const Time = ({ at }: { at: number }): VNode => (
  <time dateTime={new Date(at).toISOString()} title={exactDate(at)}>
    {timeOf(at)}
  </time>
);
