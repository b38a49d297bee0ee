// What the trace is, where it comes from, and how complete it is.

import type { ComponentChildren } from "preact";
import type { Context, Loss } from "./api";
import { Stamp } from "./controls";
import { countOf, formatBytes, formatCount, formatTime } from "./format";
import { useStore } from "./hooks";
import { showAround } from "./store";

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Clocks({ contexts, count }: { contexts: Context[]; count: number }) {
  const shown = contexts.slice(0, 12);
  return (
    <section>
      <h3>Devices and clocks</h3>
      {count === 0 && <p class="dim">No device was recorded.</p>}
      <dl>
        {shown.map((context, i) => (
          <Row key={i} name={context.name || `context ${i}`}>
            {context.uncertainty !== undefined
              ? `± ${formatTime(context.uncertainty)}${context.clocks > 0 ? ` from ${countOf(context.clocks, "clock reading")}` : ""}`
              : "± not recorded"}
            {context.calibrated ? ", calibrated" : ""}
          </Row>
        ))}
      </dl>
      {count > shown.length && <p class="dim">and {formatCount(count - shown.length)} more</p>}
    </section>
  );
}

function Losses(props: { losses: Loss[]; total: number; damage: string }) {
  const { losses, total, damage } = props;
  const shown = losses.slice(0, 50);
  return (
    <section>
      <h3>Completeness</h3>
      {damage && <p class="notice error">{damage}</p>}
      {losses.length === 0 && !damage && <p>Complete: nothing is known to be lost.</p>}
      {shown.map((loss, i) => (
        <button key={i} class="loss-row" onClick={() => showAround(loss.from, loss.to)}>
          {loss.text || loss.cause}
          <span class="dim">
            {loss.count > 0 ? `${formatCount(loss.count)} lost, ` : ""}
            <Stamp time={loss.from} /> to {loss.to < 0 ? "the end" : <Stamp time={loss.to} />}
          </span>
        </button>
      ))}
      {total > shown.length && <p class="dim">and {formatCount(total - shown.length)} more</p>}
    </section>
  );
}

export function InfoPanel() {
  const info = useStore((state) => state.info);
  const losses = useStore((state) => state.losses);
  if (!info) return null;
  const recorded = info.recordedAt > 0 ? new Date(info.recordedAt * 1000).toISOString() : null;
  return (
    <div class="panel-content info">
      <section>
        <h3>Recording</h3>
        <dl>
          <Row name="Program">{info.program || "–"}</Row>
          {info.capture && <Row name="Capture">{info.capture}</Row>}
          {recorded && (
            <Row name="Recorded">{recorded.replace("T", " ").replace(".000Z", " UTC")}</Row>
          )}
          {info.processId > 0 && <Row name="Process">{info.processId}</Row>}
          <Row name="Duration">{formatTime(info.end)}</Row>
          <Row name="File">
            {info.name}
            {info.fileBytes !== undefined ? `, ${formatBytes(info.fileBytes)}` : ""}
          </Row>
          {info.format && <Row name="Format">{info.format}</Row>}
          {info.host && (
            <Row name="Host">
              <span class="lines">{info.host.trim()}</span>
            </Row>
          )}
          {info.crash && (
            <Row name="Crash">
              {info.crash.message} at <Stamp time={info.crash.time} />
            </Row>
          )}
          <Row name="Viewer">Strobe {info.strobe}</Row>
        </dl>
      </section>
      <section>
        <h3>What it holds</h3>
        <dl>
          <Row name="Zones">{formatCount(info.zones)}</Row>
          <Row name="Device zones">{formatCount(info.deviceZones)}</Row>
          <Row name="Tracks">{formatCount(info.tracks)}</Row>
          <Row name="Sources">{formatCount(Math.max(0, info.sources - 1))}</Row>
          <Row name="Messages">{formatCount(info.messages)}</Row>
          <Row name="Frames">
            {formatCount(info.frameSets.reduce((sum, set) => sum + set.count, 0))}
          </Row>
          <Row name="Plots">{formatCount(info.plots)}</Row>
          <Row name="Allocations">{formatCount(info.allocations)}</Row>
          <Row name="Locks">{formatCount(info.locks)}</Row>
        </dl>
        {info.limits.map((limit) => (
          <p key={limit} class="notice">
            {limit}
          </p>
        ))}
      </section>
      <Clocks contexts={info.contexts} count={info.contextCount} />
      {info.facts.length > 0 && (
        <section>
          <h3>Of the report</h3>
          <dl>
            {info.facts.map((fact) => (
              <Row key={fact.name} name={fact.name}>
                {fact.text}
              </Row>
            ))}
          </dl>
        </section>
      )}
      <Losses losses={losses} total={info.lossRecords} damage={info.damage} />
    </div>
  );
}
