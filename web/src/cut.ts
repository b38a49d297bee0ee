// What is cut for want of room says all of itself when the pointer is on it.

export function titleCutTexts(): void {
  document.addEventListener("pointerover", ({ target }) => {
    if (!(target instanceof HTMLElement) || target.closest("[title]:not([data-cut])")) return;
    const isCut =
      target.scrollWidth > target.clientWidth &&
      getComputedStyle(target).textOverflow === "ellipsis";
    if (isCut) {
      target.title = target.textContent ?? "";
      target.dataset["cut"] = "";
    } else if ("cut" in target.dataset) {
      target.removeAttribute("title");
      delete target.dataset["cut"];
    }
  });
}
