// The bookmarks of a person: a list to name them, to jump and to remove.

import { Stamp } from "./controls";
import { Dialog } from "./dialog";
import { formatStamp } from "./format";
import { useStore } from "./hooks";
import { Icon } from "./icons";
import { LONGEST_TEXT } from "./link";
import { getState, setState, showTime } from "./store";
import type { Bookmark } from "./store";

function close(): void {
  setState({ marksOpen: null });
}

function Row({ mark, index, isFirst }: { mark: Bookmark; index: number; isFirst: boolean }) {
  const change = (changed: Bookmark[]) => {
    const bookmarks = [...getState().bookmarks];
    bookmarks.splice(index, 1, ...changed);
    setState({ bookmarks });
  };
  return (
    <li>
      <input
        class="field"
        autofocus={isFirst}
        aria-label={`Name of the bookmark at ${formatStamp(mark.time)}`}
        placeholder="Name"
        maxLength={LONGEST_TEXT}
        value={mark.label}
        onFocus={(event) => event.currentTarget.select()}
        onInput={({ currentTarget: { value } }) => change([{ ...mark, label: value }])}
        onKeyDown={(event) => event.key === "Enter" && close()}
      />
      <button
        class="button"
        title="Show it on the timeline"
        onClick={() => {
          close();
          showTime(mark.time);
        }}
      >
        <Stamp time={mark.time} />
      </button>
      <button
        class="icon-button"
        title="Remove"
        aria-label={`Remove the bookmark at ${formatStamp(mark.time)}`}
        onClick={() => change([])}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

export function Bookmarks() {
  const bookmarks = useStore((state) => state.bookmarks);
  const chosen = useStore((state) => state.marksOpen);
  const inOrder = bookmarks
    .map((mark, index) => ({ mark, index }))
    .sort((a, b) => a.mark.time - b.mark.time);
  return (
    <Dialog label="Bookmarks" kind="bookmarks" onClose={close}>
      <h2>Bookmarks</h2>
      {bookmarks.length === 0 && (
        <p class="dim">
          There are none. <kbd>B</kbd> makes one where the pointer is. They are kept in the address
          of the page.
        </p>
      )}
      <ul>
        {inOrder.map(({ mark, index }) => (
          <Row key={`${index} ${mark.time}`} mark={mark} index={index} isFirst={index === chosen} />
        ))}
      </ul>
    </Dialog>
  );
}
