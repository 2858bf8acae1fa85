//! What the figures were measured on. Must not know the figures.

use serde_json::{Value, json};

use super::programs::Programs;
use crate::workspace;

/// The machine and its state.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    cores: usize,
    processor: String,
    memory_gib: f64,
    kernel: String,
    git: String,
    load_before: String,
}

impl Machine {
    pub(crate) fn look(programs: &Programs) -> anyhow::Result<Self> {
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let memory = field(&file("/proc/meminfo"), "MemTotal");
        let kib: f64 = memory.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        Ok(Self {
            cores: std::thread::available_parallelism()?.get(),
            processor: field(&file("/proc/cpuinfo"), "model name"),
            memory_gib: (kib / 1024.0 / 1024.0).round(),
            kernel: file("/proc/sys/kernel/osrelease").trim().to_owned(),
            git: workspace::output(programs.git().arg("--version"))?.trim().to_owned(),
            load_before: load(),
        })
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "{} cores ({}), {:.0} GiB, Linux {}, {}; load average {} before, {} after",
            self.cores,
            self.processor,
            self.memory_gib,
            self.kernel,
            self.git,
            self.load_before,
            load()
        )
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "cores": self.cores, "processor": self.processor, "memory_gib": self.memory_gib, "kernel": self.kernel,
            "git": self.git, "load_before": self.load_before, "load_after": load(),
        })
    }
}

/// The load average of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}
