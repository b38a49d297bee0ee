// A table that sorts by any column and draws only the rows on the screen.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Sort } from "./store";

export interface Column<T> {
  key: string;
  title: string;
  /** What the column is sorted by. */
  value: (row: T) => number | string;
  /** What is shown; the value itself without it. */
  show?: (row: T) => ComponentChildren;
  isText?: boolean;
  width?: string;
  help?: string;
}

interface Props<T> {
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string | number;
  /** How it is sorted unless somebody chose (null: nobody). */
  first: Sort;
  sort: Sort | null;
  onSort: (sort: Sort | null) => void;
  /** A bar behind the first column: a part of one. */
  part?: (row: T) => number;
  selected?: string | number | null;
  onSelect?: (row: T) => void;
  empty: string;
}

const ROW_HEIGHT = 26;

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}

export function Table<T>(props: Props<T>) {
  const { columns, rows, first: start } = props;
  // A link may name a column that is not there.
  const sort = columns.some((one) => one.key === props.sort?.key) ? props.sort! : start;
  const [scroll, setScroll] = useState(0);
  const [height, setHeight] = useState(400);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(body.current?.clientHeight ?? 400));
    observer.observe(body.current!);
    return () => observer.disconnect();
  }, []);
  const sorted = useMemo(() => {
    const column = columns.find((one) => one.key === sort.key) ?? columns[0]!;
    const direction = sort.isDown ? -1 : 1;
    return [...rows].sort((a, b) => direction * compare(column.value(a), column.value(b)));
  }, [rows, sort.key, sort.isDown, columns]);
  const click = ({ key, isText }: Column<T>) => {
    const isDown = sort.key === key ? !sort.isDown : !isText;
    props.onSort(key === start.key && isDown === start.isDown ? null : { key, isDown });
  };
  // The row that keys are at; a table that gets other rows starts anew.
  const [cursor, setCursor] = useState(-1);
  useEffect(() => setCursor(-1), [sorted]);
  const reveal = (row: number) => {
    const { current } = body;
    if (!current) return;
    const top = row * ROW_HEIGHT;
    const room = current.clientHeight - 2 * ROW_HEIGHT;
    if (top < current.scrollTop) current.scrollTop = top;
    else if (top > current.scrollTop + room) current.scrollTop = top - room;
  };
  // What a link or another part of the page has selected is seen.
  const selectedAt = useMemo(
    () =>
      props.selected == null ? -1 : sorted.findIndex((row) => props.rowKey(row) === props.selected),
    [sorted, props.selected],
  );
  useEffect(() => {
    if (selectedAt >= 0) reveal(selectedAt);
  }, [selectedAt]);
  const pressed = (event: KeyboardEvent) => {
    if (!props.onSelect || event.target !== body.current) return;
    const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -sorted.length,
      End: sorted.length,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      const start = cursor < 0 ? Math.max(selectedAt, step > 0 ? -1 : 0) : cursor;
      const next = Math.min(sorted.length - 1, Math.max(0, start + step));
      setCursor(next);
      reveal(next);
    } else if (event.key === "Enter" && sorted[cursor]) props.onSelect(sorted[cursor]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const first = Math.max(0, Math.floor(scroll / ROW_HEIGHT) - 5);
  const visible = sorted.slice(first, first + Math.ceil(height / ROW_HEIGHT) + 10);
  const template = columns.map((column) => column.width ?? "minmax(74px, 1fr)").join(" ");
  return (
    <div class="table" role="table">
      <div
        class="table-body"
        ref={body}
        tabIndex={0}
        aria-label={props.onSelect ? "Rows: arrow keys to choose, Enter to open" : "Rows"}
        onKeyDown={pressed}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      >
        <div class="table-row table-head" role="row" style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <button
              key={column.key}
              role="columnheader"
              class={`${column.isText ? "text" : "number"} ${sort.key === column.key ? "sorted" : ""}`}
              title={column.help ?? `Sort by ${column.title}`}
              aria-sort={
                sort.key === column.key ? (sort.isDown ? "descending" : "ascending") : "none"
              }
              onClick={() => click(column)}
            >
              {column.title}
              <span class="arrow">{sort.key === column.key ? (sort.isDown ? "↓" : "↑") : ""}</span>
            </button>
          ))}
        </div>
        {rows.length === 0 && <div class="empty-table">{props.empty}</div>}
        <div style={{ height: `${first * ROW_HEIGHT}px` }} />
        {visible.map((row, i) => (
          <div
            key={props.rowKey(row)}
            role="row"
            class={`table-row ${props.onSelect ? "clickable" : ""} ${
              props.selected === props.rowKey(row) ? "selected" : ""
            } ${first + i === cursor ? "cursor" : ""}`}
            style={{
              gridTemplateColumns: template,
              "--part": `${Math.min(100, (props.part?.(row) ?? 0) * 100)}%`,
            }}
            onClick={() => props.onSelect?.(row)}
          >
            {columns.map((column) => (
              <span key={column.key} role="cell" class={column.isText ? "text" : "number"}>
                {column.show ? column.show(row) : column.value(row)}
              </span>
            ))}
          </div>
        ))}
        <div
          style={{
            height: `${Math.max(0, sorted.length - first - visible.length) * ROW_HEIGHT}px`,
          }}
        />
      </div>
    </div>
  );
}
