//! Metrics of the host in the text format of Prometheus (OpenMetrics 1.0).
//!
//! Must not count anything: each answer is computed from the engine's figures.

use std::sync::atomic::AtomicU64;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_engine::jobs::{Figures, Places};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::jobs::STATUSES;
use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// The format of the answer.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Gauges = Family<Vec<(&'static str, &'static str)>, Gauge>;

/// `GET /metrics`
pub(crate) async fn show(State(shared): State<ServerState>) -> Result<Response, Problem> {
    let figures = shared.engine.jobs().figures().await?;
    let mut text = String::new();
    encode(&mut text, &registry(&figures, shared.started_at)).map_err(|error| {
        let detail = format!("cannot encode the metrics: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, codes::REFUSED, detail)
    })?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

fn registry(figures: &Figures, started_at: jiff::Timestamp) -> Registry {
    let mut registry = Registry::with_prefix("helix");
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "Version of Helix", version);
    let since = Gauge::<i64>::default();
    since.set(started_at.as_second());
    registry.register("start_time_seconds", "When this host began, in seconds since 1970", since);

    let jobs = Gauges::default();
    for status in STATUSES {
        let count = figures.counts.jobs.iter().find(|(counted, _)| *counted == status).map_or(0, |(_, count)| *count);
        jobs.get_or_create(&vec![("status", status.word())]).set(signed(count));
    }
    registry.register("jobs", "Jobs by status", jobs);
    registry.register("sessions", "Sessions with the Consultant", gauge(figures.counts.sessions));
    registry.register("questions_open", "Open questions", gauge(figures.open_questions));
    let events = Counter::<u64, AtomicU64>::default();
    events.inc_by(figures.counts.events);
    registry.register("journal_events", "Events written to the journal", events);

    let kinds = [("agent", figures.agents), ("gate", figures.gates)];
    for (name, help, of) in [
        ("places", "How many agents and gates may run at once", (|places| places.all) as fn(Places) -> usize),
        ("places_taken", "Agents and gates that are running", |places| places.taken),
        ("places_waiting", "Agents and gates that are waiting", |places| places.waiting),
    ] {
        let family = Gauges::default();
        for (kind, places) in kinds {
            family.get_or_create(&vec![("kind", kind)]).set(signed(of(places) as u64));
        }
        registry.register(name, help, family);
    }
    registry
}

fn gauge(count: u64) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(signed(count));
    gauge
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
