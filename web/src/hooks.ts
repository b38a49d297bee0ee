// Hooks that tie Preact to the store and to the source of data.

import { createContext } from "preact";
import { useContext, useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { DataSource } from "./api";
import { DARK, LIGHT } from "./colours";
import type { Theme } from "./colours";
import { getState, subscribe } from "./store";
import type { State } from "./store";

export const DataContext = createContext<DataSource | null>(null);

export function useData(): DataSource {
  const source = useContext(DataContext);
  if (!source) throw new Error("no source of data");
  return source;
}

/** A part of the state; renders again when it is another. */
export function useStore<T>(select: (state: State) => T): T {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const selected = select(getState());
  const last = useRef(selected);
  last.current = selected;
  useEffect(
    () =>
      subscribe((state) => {
        const next = select(state);
        if (next !== last.current) render(undefined as never);
      }),
    [],
  );
  return selected;
}

export interface Answer<T> {
  data: T | null;
  error: string | null;
  isLoading: boolean;
}

/** Asks a question anew when what it depends on changes, and forgets answers that come too late. */
export function useAnswer<T>(
  ask: () => Promise<T> | null,
  dependencies: unknown[],
  delay = 0,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ data: null, error: null, isLoading: true });
  useEffect(() => {
    let isCurrent = true;
    setAnswer((before) => ({ ...before, isLoading: true }));
    const timer = window.setTimeout(() => {
      const promise = ask();
      if (!promise) {
        setAnswer({ data: null, error: null, isLoading: false });
        return;
      }
      promise.then(
        (data) => isCurrent && setAnswer({ data, error: null, isLoading: false }),
        (error: Error) =>
          isCurrent && setAnswer({ data: null, error: error.message, isLoading: false }),
      );
    }, delay);
    return () => {
      isCurrent = false;
      window.clearTimeout(timer);
    };
  }, dependencies);
  return answer;
}

const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(state: State): Theme {
  const isDark = state.theme === "dark" || (state.theme === "system" && darkQuery.matches);
  return isDark ? DARK : LIGHT;
}

export function useTheme(): Theme {
  const [, render] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const changed = () => render(undefined as never);
    darkQuery.addEventListener("change", changed);
    return () => darkQuery.removeEventListener("change", changed);
  }, []);
  return useStore(currentTheme);
}
