//! Pictures as SVG. Texts from a record are made safe to print.

#[cfg(feature = "cli")]
use crate::bench::{Kind, Operation, Row as SpeedRow};
use crate::engine::score::{Cell, Engine, Score};
#[cfg(feature = "cli")]
use crate::report::document::three;
use crate::report::document::{date, short};
use crate::report::matrix::{class, spaced};
use crate::report::record::Night;
use crate::report::record::matrix::{Column, Matrix, Row};
use crate::text::printable;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::element::DynElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::io;

type Drawn = Result<(), Box<dyn Error>>;

const GRID: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
const AXIS: RGBColor = RGBColor(0x55, 0x55, 0x55);
/// Colours that are distinguishable with colour blindness (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
const VERMILION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);
const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
const GREY: RGBColor = RGBColor(0x76, 0x76, 0x76);

/// A picture of this size in pixels on white, with a description for screen readers.
fn picture(label: &str, size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> io::Result<String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = root.fill(&WHITE).map_err(Box::from).and_then(|()| draw(&root));
        drawn.and_then(|()| root.present().map_err(Box::from)).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(text.replacen("<svg ", &format!("<svg class=\"chart\" role=\"img\" aria-label=\"{label}\" "), 1))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

// Planted decoders caught over executions, one line for each engine.

/// The result of an engine.
struct Curve {
    engine: Engine,
    /// The median executions of each decoder it caught, ascending.
    caught: Vec<f64>,
    /// The executions of its longest run.
    reach: f64,
}

/// Planted decoders caught over executions: a line for each engine, which ends where its longest run ended.
pub(super) fn score(score: &Score) -> io::Result<String> {
    let curves: Vec<Curve> = score.engines.iter().map(|engine| curve(score, *engine)).collect();
    let label = "Planted decoders caught over executions, one line for each engine";
    picture(label, (1000, 560), |root| draw_score(&curves, score.rows.len(), root))
}

fn curve(score: &Score, engine: Engine) -> Curve {
    let cells = || score.rows.iter().filter_map(|row| row.cell(engine));
    // A logarithmic axis begins at 1.
    let mut caught: Vec<f64> =
        cells().filter_map(Cell::executions).filter(|value| value.is_finite()).map(|value| value.max(1.0)).collect();
    caught.sort_by(f64::total_cmp);
    let reach = cells().flat_map(|cell| &cell.runs).map(|run| run.executions).max().unwrap_or(0);
    Curve { engine, caught, reach: (reach as f64).max(1.0) }
}

fn draw_score(curves: &[Curve], decoders: usize, root: &Area<'_>) -> Drawn {
    /// Where the chart ends and the legend begins.
    const CHART_WIDTH: i32 = 790;
    /// The approximate number of marks on a line.
    const MARKS: usize = 8;
    let reach = curves.iter().map(|curve| curve.reach).fold(10.0, f64::max);
    let powers: Vec<f64> = (0..20).map(|power| 10f64.powi(power)).take_while(|power| *power <= reach).collect();
    let title = format!("Planted decoders caught, of {decoders}: median over the seeds");
    let (area, _) = root.split_horizontally(CHART_WIDTH);
    // Slightly above the highest line, so that its marks are not clipped.
    let top = decoders + decoders / 20 + 1;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .caption(title, font(22))
        .x_label_area_size(56)
        .y_label_area_size(64)
        .build_cartesian_2d((1.0..reach).log_scale().with_key_points(powers), 0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(AXIS)
        .label_style(font(18))
        .axis_desc_style(font(20))
        .x_desc("executions until caught (logarithmic)")
        .y_desc("planted decoders caught")
        .x_label_formatter(&|value| short(*value))
        .draw()?;
    for (index, curve) in curves.iter().enumerate() {
        let mut steps = Vec::new();
        for (below, executions) in curve.caught.iter().enumerate() {
            steps.extend([(*executions, below), (*executions, below + 1)]);
        }
        if let Some(last) = curve.caught.last() {
            steps.push((curve.reach.max(*last), curve.caught.len()));
        }
        chart.draw_series(LineSeries::new(steps, look(curve.engine).1.stroke_width(2)))?;
        // Each line has marks at different heights, so that lines close to each other can be distinguished.
        let every = curve.caught.len().div_ceil(MARKS).max(1);
        let marked = (0..curve.caught.len()).filter(|at| at % every == index % every);
        for at in marked {
            root.draw(&mark(look(curve.engine), chart.backend_coord(&(curve.caught[at], at + 1))))?;
        }
    }
    // In the order of the lines' ends, so that an entry is near its line.
    let mut entries: Vec<&Curve> = curves.iter().collect();
    entries.sort_by_key(|curve| std::cmp::Reverse(curve.caught.len()));
    for (curve, y) in entries.into_iter().zip((70..).step_by(32)) {
        let (left, right) = (CHART_WIDTH + 6, CHART_WIDTH + 46);
        root.draw(&PathElement::new([(left, y), (right, y)], look(curve.engine).1.stroke_width(2)))?;
        root.draw(&mark(look(curve.engine), ((left + right) / 2, y)))?;
        let entry = format!("{}: {}", curve.engine.name(), curve.caught.len());
        root.draw(&Text::new(entry, (right + 10, y), font(20).pos(Pos::new(HPos::Left, VPos::Center))))?;
    }
    Ok(())
}

/// The shape and the colour of an engine.
fn look(engine: Engine) -> (usize, RGBColor) {
    match engine {
        Engine::Plain => (0, VERMILION),
        Engine::Exhaustive => (1, BLACK),
        Engine::Structured => (2, BLUE),
        Engine::Behaviour => (3, GREEN),
        Engine::Mutator => (4, PURPLE),
        Engine::Proptest => (1, VERMILION),
        Engine::Bolero => (2, GREY),
        Engine::Afl => (3, BLACK),
    }
}

type Mark<'a> = DynElement<'a, SVGBackend<'a>, (i32, i32)>;

/// A mark in one of five shapes.
fn mark<'a>((shape, color): (usize, RGBColor), at: (i32, i32)) -> Mark<'a> {
    let style = color.filled();
    let polygon = |points: &[(i32, i32)]| EmptyElement::at(at) + Polygon::new(points.to_vec(), style);
    match shape {
        0 => Circle::new(at, 5, style).into_dyn(),
        1 => Cross::new(at, 5, style.stroke_width(2)).into_dyn(),
        2 => polygon(&[(-5, -5), (5, -5), (5, 5), (-5, 5)]).into_dyn(),
        3 => polygon(&[(0, -7), (6, 5), (-6, 5)]).into_dyn(),
        _ => polygon(&[(0, -7), (7, 0), (0, 7), (-7, 0)]).into_dyn(),
    }
}

// Answers.

/// The columns of [`answers`], by id.
const ASKED: [&str; 12] = [
    "nul",
    "overlong-nul",
    "overlong-3",
    "surrogate",
    "surrogate-pair",
    "f4-90",
    "five",
    "continuation",
    "cut-3",
    "cut-4",
    "end-2-of-3",
    "mark-start",
];

/// The rows of [`answers`], by name: one to three of each runtime that many people use.
const PICTURED: [&str; 36] = [
    "own",
    "std",
    "encoding_rs",
    "simdutf8-basic",
    "bstr",
    "chromium-textdecoder",
    "node-textdecoder",
    "node-buffer-tostring",
    "deno-textdecoder",
    "bun-textdecoder",
    "cpython-strict",
    "cpython-replace",
    "cpython-surrogateescape",
    "java-string",
    "java-charsetdecoder-ignore",
    "java-datainput-readutf",
    "dotnet-utf8-replace",
    "go-range",
    "go-strings-tovalidutf8",
    "php-mb-scrub",
    "php-htmlspecialchars-substitute",
    "ruby-scrub",
    "perl-encode-strict-replace",
    "perl-encode-lax",
    "icu-ucnv-substitute",
    "gnu-libc-mbrtowc",
    "glib-make-valid",
    "libxml2-xml-recover",
    "qt6-string-fromutf8",
    "tcl-encoding-convertfrom",
    "erlang-characters-to-list",
    "lua-codes-lax",
    "pglite-convert-from",
    "mariadb-utf8mb4-convert",
    "sqlite-unicode",
    "cesu8-java",
];

/// Some cells of a matrix, as SVG: a row for each decoder, a column for each input. Colours and symbols are those of the
/// page.
pub(super) fn answers(matrix: &Matrix) -> io::Result<String> {
    const NAME: i32 = 250;
    const CELL: (i32, i32) = (68, 22);
    const HEAD: i32 = 72;
    let columns: Vec<(usize, &Column)> =
        ASKED.iter().filter_map(|id| matrix.columns.iter().enumerate().find(|(_, column)| column.id == *id)).collect();
    let named = |name: &&str| matrix.rows.iter().find(|row| row.name == *name);
    let mut rows: Vec<&Row> = PICTURED.iter().filter_map(named).collect();
    if rows.len() < 2 {
        rows = matrix.rows.iter().take(PICTURED.len()).collect();
    }
    let height = HEAD + CELL.1 * rows.len() as i32 + 4;
    let width = NAME + CELL.0 * columns.len() as i32 + 4;
    let label = "What each decoder makes of twelve inputs";
    picture(label, (width as u32, height as u32), |root| {
        let centred = |size| font(size).pos(Pos::new(HPos::Center, VPos::Center));
        for (place, (_, column)) in columns.iter().enumerate() {
            let x = NAME + CELL.0 * place as i32 + CELL.0 / 2;
            let bytes: Vec<String> = spaced(&column.bytes).split(' ').map(str::to_owned).collect();
            let group: String = brief(&column.group).chars().take(18).collect();
            root.draw(&Text::new(group, (x, 12), centred(9)))?;
            for (line, bytes) in bytes.chunks(3).enumerate() {
                root.draw(&Text::new(bytes.join(" "), (x, 30 + 14 * line as i32), centred(11)))?;
            }
        }
        for (at, row) in rows.iter().enumerate() {
            let y = HEAD + CELL.1 * at as i32;
            let right = font(13).pos(Pos::new(HPos::Right, VPos::Center));
            root.draw(&Text::new(brief(&row.name), (NAME - 8, y + CELL.1 / 2), right))?;
            for (place, (column, _)) in columns.iter().enumerate() {
                let x = NAME + CELL.0 * place as i32;
                let symbol = matrix.seen(row, *column).map_or("", |seen| &seen.symbol);
                let broken = row.broken.contains_key(&matrix.columns[*column].id);
                let color = match class(symbol) {
                    _ if broken => VERMILION.mix(0.45),
                    "yes" => GREEN.mix(0.25),
                    "one" => PURPLE.mix(0.2),
                    "odd" => YELLOW.mix(0.35),
                    _ => GREY.mix(0.15),
                };
                let corners = [(x + 1, y + 1), (x + CELL.0 - 1, y + CELL.1 - 1)];
                root.draw(&Rectangle::new(corners, color.filled()))?;
                let text = format!("{}{}", brief(symbol), if broken { "!" } else { "" });
                root.draw(&Text::new(text, (x + CELL.0 / 2, y + CELL.1 / 2), centred(13)))?;
            }
        }
        Ok(())
    })
}

/// The start of a text from a record, safe to print.
fn brief(text: &str) -> String {
    printable(text).chars().take(36).collect()
}

// Throughput.

/// How fast the subjects are: a panel for each operation, a group of bars for each text, a bar for each subject, in
/// gigabytes a second. `source` says where that was measured.
#[cfg(feature = "cli")]
pub(super) fn speeds(operations: &[Operation], rows: &[&SpeedRow], source: &str) -> io::Result<String> {
    /// The first long texts of an operation are those of the scripts and the page.
    const TEXTS: usize = 13;
    const BAR: i32 = 9;
    const WIDTH: i32 = 500;
    const LEFT: i32 = 84;
    /// The end of the longest bar; its number is beside it.
    const RIGHT: i32 = WIDTH - 46;
    const KEY: i32 = 44;
    const HEAD: i32 = 30;
    const FOOT: i32 = 26;
    const COLORS: [RGBColor; 6] = [BLUE, BLACK, VERMILION, GREEN, PURPLE, GREY];
    type Group<'a> = (String, Vec<(&'a str, f64)>);
    fn group(row: &SpeedRow) -> Group<'_> {
        let timed = row.cells.iter().filter(|cell| matches!(cell.kind, Kind::Own | Kind::Peer));
        let speeds = timed.filter_map(|cell| Some((&*cell.name, row.throughput(cell.time?)?)));
        let speeds = speeds.filter(|(_, speed)| speed.is_finite() && *speed > 0.0);
        (printable(&row.text).chars().take(12).collect(), speeds.collect())
    }
    let groups = |operation: &Operation| -> Vec<Group<'_>> {
        let of = rows.iter().filter(|row| row.operation == *operation && row.bytes > 128);
        of.take(TEXTS).map(|row| group(row)).collect()
    };
    let panels: Vec<(Operation, Vec<Group<'_>>)> = operations.iter().map(|one| (*one, groups(one))).collect();
    let mut subjects: Vec<&str> = Vec::new();
    for (name, _) in panels.iter().flat_map(|(_, groups)| groups).flat_map(|(_, speeds)| speeds) {
        if !subjects.contains(name) {
            subjects.push(name);
        }
    }
    // Ours first, so that it has the same colour in every picture.
    subjects.sort_by_key(|name| *name != "own");
    let color = |name: &str| COLORS[subjects.iter().position(|subject| *subject == name).unwrap_or(0).min(5)];
    let height = |(_, groups): &(Operation, Vec<Group<'_>>)| {
        HEAD + groups.iter().map(|(_, speeds)| BAR * (speeds.len() as i32 + 1)).sum::<i32>() + BAR
    };
    let lines: Vec<i32> = panels.chunks(2).map(|line| line.iter().map(height).max().unwrap_or(0)).collect();
    let size = (2 * WIDTH, KEY + lines.iter().sum::<i32>() + FOOT);
    let words = |text: String, at: (i32, i32), size: u32, place: HPos| {
        Text::new(text, at, font(size).pos(Pos::new(place, VPos::Center)))
    };
    picture("Throughput in gigabytes a second, by operation and text", (size.0 as u32, size.1 as u32), |root| {
        let bar = |from: (i32, i32), to: (i32, i32), color: RGBColor| Rectangle::new([from, to], color.filled());
        for (index, name) in subjects.iter().enumerate() {
            let x = 20 + index as i32 * (size.0 - 20) / subjects.len() as i32;
            root.draw(&bar((x - 6, KEY / 2 - 6), (x + 6, KEY / 2 + 6), color(name)))?;
            root.draw(&words(printable(name).chars().take(18).collect(), (x + 12, KEY / 2), 16, HPos::Left))?;
        }
        for (place, (operation, groups)) in panels.iter().enumerate() {
            let (left, top) = (WIDTH * (place as i32 % 2), KEY + lines[..place / 2].iter().sum::<i32>());
            root.draw(&words(format!("{}, GB/s", operation.name()), (left + LEFT, top + 12), 17, HPos::Left))?;
            // One text, ASCII as a rule, may be much faster than all others; its bars are cut off.
            let most = |(_, speeds): &Group<'_>| speeds.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
            let mut fastest: Vec<f64> = groups.iter().map(most).collect();
            fastest.sort_by(|a, b| b.total_cmp(a));
            let full = fastest.get(1).or(fastest.first()).copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
            let mut y = top + HEAD;
            for (text, speeds) in groups {
                let middle = y + BAR * speeds.len() as i32 / 2;
                root.draw(&words(text.clone(), (left + LEFT - 8, middle), 14, HPos::Right))?;
                for subject in &subjects {
                    for (name, speed) in speeds.iter().filter(|(name, _)| name == subject) {
                        let long = ((speed / full).min(1.0) * f64::from(RIGHT - LEFT)).round() as i32;
                        let end = left + LEFT + long.max(1);
                        root.draw(&bar((left + LEFT, y), (end, y + BAR - 1), color(name)))?;
                        let number = format!("{}{}", three(*speed), if *speed > full { " ▸" } else { "" });
                        root.draw(&words(number, (end + 4, y + BAR / 2), 10, HPos::Left))?;
                        y += BAR;
                    }
                }
                y += BAR;
            }
        }
        root.draw(&words(source.to_owned(), (size.0 / 2, size.1 - 14), 14, HPos::Center))?;
        Ok(())
    })
}

// Nights.

/// The name of a line, and its value for a night.
pub(super) type Line = (&'static str, fn(&Night) -> u64);

/// Figures of each night as lines.
pub(super) fn nights(title: &str, lines: &[Line], nights: &[Night]) -> io::Result<String> {
    let values = nights.iter().flat_map(|night| lines.iter().map(|(_, of)| of(night)));
    let top = values.max().unwrap_or(0).max(2) as f64 * 1.05;
    let first = nights.iter().map(|night| night.started).min().unwrap_or(0) as f64;
    let last = nights.iter().map(|night| night.started).max().unwrap_or(0) as f64;
    // A single night is in the middle.
    let margin = ((last - first) * 0.02).max(43_200.0);
    picture(title, (720, 260), |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(12)
            .x_label_area_size(28)
            .y_label_area_size(56)
            .build_cartesian_2d(first - margin..last + margin, 0.0..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(font(13))
            .x_labels(4)
            .y_labels(3)
            .x_label_formatter(&|time| date(*time as u64))
            .y_label_formatter(&|value| short(*value))
            .draw()?;
        for ((name, of), color) in lines.iter().zip([VERMILION, BLUE, GREY]) {
            let points: Vec<(f64, f64)> = nights.iter().map(|night| (night.started as f64, of(night) as f64)).collect();
            let line = chart.draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))?;
            line.label(*name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, color.filled())))?;
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.8)).label_font(font(13)).draw()?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            shards: Vec::new(),
        };
        let lines: &[Line] = &[("known", |night| night.known), ("executions", |night| night.executions)];
        for of in [vec![night(5, 3)], vec![night(9, 1), night(7, 200), night(u64::MAX, 0)]] {
            let text = nights("Title", lines, &of).unwrap();
            let circles: Vec<&str> = text.split("<circle ").skip(1).collect();
            assert_eq!(circles.len(), lines.len() * of.len());
            for circle in circles {
                let value = |name: &str| circle.split(name).nth(1).unwrap().split('"').next().unwrap();
                let (x, y): (f64, f64) = (value("cx=\"").parse().unwrap(), value("cy=\"").parse().unwrap());
                assert!((50.0..=710.0).contains(&x) && (10.0..=250.0).contains(&y), "{circle}");
            }
        }
    }
}
