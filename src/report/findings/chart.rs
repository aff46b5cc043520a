//! The trend over nights as lines: numbers for a template to draw. Of the record only numbers get in.

use crate::report::findings::Night;
use crate::report::score::short;
use serde::Serialize;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 200.0;
/// Room for the labels.
const LEFT: f64 = 50.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 30.0;

#[derive(Serialize)]
pub(super) struct Chart {
    title: &'static str,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    /// Lines across, each with its value.
    levels: Vec<Label>,
    /// The first night and the last.
    dates: Vec<Label>,
    series: Vec<Series>,
}

#[derive(Serialize)]
struct Label {
    at: String,
    text: String,
}

#[derive(Serialize)]
struct Series {
    name: &'static str,
    /// `x,y` for each night.
    points: String,
    marks: Vec<Mark>,
}

#[derive(Serialize)]
struct Mark {
    x: String,
    y: String,
    words: String,
}

type Line = (&'static str, fn(&Night) -> u64);

/// A chart for each thing that is counted; none without nights.
pub(super) fn charts(nights: &[Night]) -> Vec<Chart> {
    let clusters: &[Line] =
        &[("new", |night| night.new), ("regression", |night| night.regression), ("known", |night| night.known)];
    let charts = [
        ("Clusters", clusters),
        ("Executions", &[("executions", |night| night.executions)]),
        ("Corpus", &[("files", |night| night.corpus)]),
    ];
    let charts = charts.into_iter().filter(|_| !nights.is_empty());
    charts.map(|(title, lines)| chart(title, lines, nights)).collect()
}

fn chart(title: &'static str, lines: &[Line], nights: &[Night]) -> Chart {
    let values = nights.iter().flat_map(|night| lines.iter().map(|(_, of)| of(night)));
    let top = round(values.max().unwrap_or(0));
    let first = nights.iter().map(|night| night.started).min().unwrap_or(0);
    let last = nights.iter().map(|night| night.started).max().unwrap_or(0);
    let inner = WIDTH - LEFT - RIGHT;
    let x = |night: &Night| match last - first {
        0 => LEFT + inner / 2.0,
        span => LEFT + inner * (night.started - first) as f64 / span as f64,
    };
    let y = |value: u64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value as f64 / top as f64;
    let series = lines.iter().map(|(name, of)| {
        let mark = |night: &Night| Mark {
            x: format!("{:.1}", x(night)),
            y: format!("{:.1}", y(of(night))),
            words: format!("{}: {} {name}", date(night.started), of(night)),
        };
        let marks: Vec<Mark> = nights.iter().map(mark).collect();
        let points: Vec<String> = marks.iter().map(|mark| format!("{},{}", mark.x, mark.y)).collect();
        Series { name, points: points.join(" "), marks }
    });
    let mut dates = vec![Label { at: format!("{LEFT:.1}"), text: date(first) }];
    if last > first {
        dates.push(Label { at: format!("{:.1}", WIDTH - RIGHT), text: date(last) });
    }
    Chart {
        title,
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: WIDTH - RIGHT,
        levels: [0, top / 2, top]
            .map(|value| Label { at: format!("{:.1}", y(value)), text: short(value as f64) })
            .into(),
        dates,
        series: series.collect(),
    }
}

/// The next even number of one digit and zeros: where the scale ends.
fn round(most: u64) -> u64 {
    let mut unit: u64 = 1;
    while most / unit >= 10 {
        unit *= 10;
    }
    [2, 4, 6, 8, 10]
        .into_iter()
        .filter_map(|digit| unit.checked_mul(digit))
        .find(|top| *top >= most)
        .unwrap_or(u64::MAX)
}

/// The day of a time, YYYY-MM-DD.
pub(super) fn date(seconds: u64) -> String {
    /// The calendar repeats after 400 years.
    const CYCLE: u64 = 146_097;
    let days = seconds / 86_400;
    let (mut year, mut rest) = (1970 + days / CYCLE * 400, days % CYCLE);
    let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    while rest >= 365 + u64::from(leap(year)) {
        rest -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (1_798_761_599, "2026-12-31"),
            (4_107_542_400, "2100-03-01"),
            (12_622_780_800, "2370-01-01"),
        ] {
            assert_eq!(date(seconds), day);
        }
        assert_eq!(date(u64::MAX), "584554051223-11-09");
    }

    #[test]
    fn a_scale_ends_above_all_values() {
        for (most, top) in
            [(0, 2), (1, 2), (2, 2), (3, 4), (9, 10), (10, 20), (61, 80), (100, 200), (u64::MAX, u64::MAX)]
        {
            assert_eq!(round(most), top);
        }
    }

    #[test]
    fn every_point_is_in_the_picture() {
        let night = |started, known| Night {
            started,
            seconds: 1.0,
            version: String::new(),
            executions: u64::MAX,
            corpus: 0,
            inputs: 0,
            clusters: known,
            new: 0,
            regression: 1,
            known,
        };
        assert!(charts(&[]).is_empty());
        for nights in [vec![night(5, 3)], vec![night(9, 1), night(7, 200), night(u64::MAX, 0)]] {
            for chart in charts(&nights) {
                for mark in chart.series.iter().flat_map(|series| &series.marks) {
                    let (x, y): (f64, f64) = (mark.x.parse().unwrap(), mark.y.parse().unwrap());
                    assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y), "{x} {y}");
                }
            }
        }
    }
}
