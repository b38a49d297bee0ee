// Small pictures, drawn here so that nothing has to be fetched.

const PATHS = {
  open: "M3 6l5 5 5-5",
  closed: "M6 3l5 5-5 5",
  pin: "M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5",
  up: "M8 13V4M4 8l4-4 4 4",
  down: "M8 3v9M4 8l4 4 4-4",
  hide: "M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4zM3 13L13 3",
  filter: "M2 4h12M4.5 8h7M7 12h2",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10zM11 11l3.5 3.5",
  help: "M5.5 6a2.5 2.5 0 113.6 2.2C8.3 8.7 8 9.2 8 10M8 13v.2",
  sun: "M8 11a3 3 0 100-6 3 3 0 000 6zM8 1v1.5M8 13.500V15M1 8h1.5M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  moon: "M13 9.500A5.500 5.500 0 016.500 3 5.500 5.500 0 1013 9.500z",
  close: "M4 4l8 8M12 4l-8 8",
  mark: "M4 2h8v12l-4-3-4 3z",
  fit: "M2 6V2h4M14 6V2h-4M2 10v4h4M14 10v4h-4",
  measure: "M2 5v6M14 5v6M2 8h12M5 7v2M8 6.500v3M11 7v2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
