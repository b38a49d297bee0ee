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
  useEffect(() => {
    const compare = (state: State) => {
      if (select(state) !== last.current) render(undefined as never);
    };
    // It may have changed between rendering and this.
    compare(getState());
    return subscribe(compare);
  }, []);
  return selected;
}

export interface Answer<T> {
  /** The last answer; while another one is on its way it may be to an earlier question. */
  data: T | null;
  error: string | null;
  /** The answer to this very question has not come yet. */
  isLoading: boolean;
}

interface Answered<T> {
  question: unknown[] | null;
  data: T | null;
  error: string | null;
}

function isSame(a: unknown[] | null, b: unknown[]): boolean {
  return a !== null && a.length === b.length && a.every((part, i) => part === b[i]);
}

/**
 * Asks anew when the question is another one, when the trace is (by its revision, where one is
 * given), and when the server is back after a failure. Answers that come too late are forgotten.
 */
export function useAnswer<T>(
  ask: () => Promise<T> | null,
  question: unknown[],
  delay = 0,
  revision: number | undefined = undefined,
): Answer<T> {
  const [answer, setAnswer] = useState<Answered<T>>({ question: null, data: null, error: null });
  const [attempt, setAttempt] = useState(0);
  const isConnected = useStore((state) => state.connection === "open");
  useEffect(() => {
    if (isConnected && answer.error !== null) setAttempt(attempt + 1);
  }, [isConnected]);
  useEffect(() => {
    let isCurrent = true;
    const timer = window.setTimeout(() => {
      const settle = (data: T | null, error: string | null) =>
        isCurrent && setAnswer({ question, data, error });
      const promise = ask();
      if (!promise) settle(null, null);
      else
        promise.then(
          (data) => settle(data, null),
          (error: Error) => settle(null, error.message),
        );
    }, delay);
    return () => {
      isCurrent = false;
      window.clearTimeout(timer);
    };
  }, [...question, revision, attempt]);
  return { data: answer.data, error: answer.error, isLoading: !isSame(answer.question, question) };
}

/** The same where an answer to an earlier question would be taken for one to this. */
export function useExactAnswer<T>(...question: Parameters<typeof useAnswer<T>>): Answer<T> {
  const answer = useAnswer(...question);
  return answer.isLoading ? { data: null, error: null, isLoading: true } : answer;
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
