//! Pictures as SVG. They contain only numbers from a record and our own names.

#[cfg(feature = "cli")]
use crate::bench::{Measured, Operation};
use crate::decoder::Decoder;
use crate::engine::score::{Cell, Engine, Score};
use crate::report::document::{date, short};
use crate::report::history::Night;
use crate::utf8::REPLACEMENT;
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
    let top = decoders.max(1) + decoders / 20;
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
        chart.draw_series(LineSeries::new(steps, style(curve.engine).stroke_width(2)))?;
        // Each line has marks at different heights, so that lines close to each other can be distinguished.
        let every = curve.caught.len().div_ceil(MARKS).max(1);
        let marked = (0..curve.caught.len()).filter(|at| at % every == index % every);
        for at in marked {
            root.draw(&mark(curve.engine, chart.backend_coord(&(curve.caught[at], at + 1))))?;
        }
    }
    // In the order of the lines' ends, so that an entry is near its line.
    let mut entries: Vec<&Curve> = curves.iter().collect();
    entries.sort_by_key(|curve| std::cmp::Reverse(curve.caught.len()));
    for (curve, y) in entries.into_iter().zip((70..).step_by(32)) {
        let (left, right) = (CHART_WIDTH + 6, CHART_WIDTH + 46);
        root.draw(&PathElement::new([(left, y), (right, y)], style(curve.engine).stroke_width(2)))?;
        root.draw(&mark(curve.engine, ((left + right) / 2, y)))?;
        let entry = format!("{}: {}", curve.engine.name(), curve.caught.len());
        root.draw(&Text::new(entry, (right + 10, y), font(20).pos(Pos::new(HPos::Left, VPos::Center))))?;
    }
    Ok(())
}

fn style(engine: Engine) -> ShapeStyle {
    let color = match engine {
        Engine::Exhaustive => BLACK,
        Engine::Structured => BLUE,
        Engine::Plain => VERMILION,
        Engine::Mutator => PURPLE,
        Engine::Behaviour => GREEN,
    };
    color.filled()
}

type Mark<'a> = DynElement<'a, SVGBackend<'a>, (i32, i32)>;

fn mark<'a>(engine: Engine, at: (i32, i32)) -> Mark<'a> {
    let style = style(engine);
    let polygon = |points: &[(i32, i32)]| EmptyElement::at(at) + Polygon::new(points.to_vec(), style);
    match engine {
        Engine::Exhaustive => Cross::new(at, 5, style.stroke_width(2)).into_dyn(),
        Engine::Structured => polygon(&[(-5, -5), (5, -5), (5, 5), (-5, 5)]).into_dyn(),
        Engine::Plain => Circle::new(at, 5, style).into_dyn(),
        Engine::Mutator => polygon(&[(0, -7), (7, 0), (0, 7), (-7, 0)]).into_dyn(),
        Engine::Behaviour => polygon(&[(0, -7), (6, 5), (-6, 5)]).into_dyn(),
    }
}

// Answers.

/// The inputs of the columns of [`answers`], each with a name.
const ASKED: [(&str, &[u8]); 12] = [
    ("NUL", b"\0"),
    ("4 bytes", b"\xF0\x9F\x98\x80"),
    ("BOM", b"\xEF\xBB\xBFa"),
    ("continuation", b"\x80"),
    ("truncated", b"\xF0\x9F\x98"),
    ("cut off", b"\xF0\x9F\x98a"),
    ("overlong NUL", b"\xC0\x80"),
    ("overlong", b"\xE0\x80\xAF"),
    ("surrogate", b"\xED\xA0\x80"),
    ("pair", b"\xED\xA0\xBD\xED\xB8\x80"),
    ("> U+10FFFF", b"\xF4\x90\x80\x80"),
    ("5 bytes", b"\xF8\x88\x80\x80\x80"),
];

/// The answers of decoders to a few inputs, as SVG: a row for each decoder, a column for each input. "ok" means
/// accepted, a number is how many U+FFFD replace ill-formed bytes, and "no" means rejected without output.
///
/// # Errors
/// The picture cannot be drawn.
pub fn answers(decoders: &[&dyn Decoder]) -> io::Result<String> {
    const NAME: i32 = 150;
    const CELL: (i32, i32) = (68, 22);
    const HEAD: i32 = 56;
    let height = HEAD + CELL.1 * decoders.len() as i32 + 4;
    let width = NAME + CELL.0 * ASKED.len() as i32 + 4;
    let label = "What each decoder makes of twelve inputs";
    picture(label, (width as u32, height as u32), |root| {
        let centred = |size| font(size).pos(Pos::new(HPos::Center, VPos::Center));
        for (column, (name, bytes)) in ASKED.into_iter().enumerate() {
            let x = NAME + CELL.0 * column as i32 + CELL.0 / 2;
            let bytes = bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>();
            root.draw(&Text::new(name, (x, 12), centred(11)))?;
            for (line, bytes) in bytes.chunks(3).enumerate() {
                root.draw(&Text::new(bytes.join(" "), (x, 28 + 14 * line as i32), centred(11)))?;
            }
        }
        for (row, decoder) in decoders.iter().enumerate() {
            let y = HEAD + CELL.1 * row as i32;
            let name = decoder.info().name.to_string();
            let right = font(13).pos(Pos::new(HPos::Right, VPos::Center));
            root.draw(&Text::new(name, (NAME - 8, y + CELL.1 / 2), right))?;
            for (column, (_, bytes)) in ASKED.into_iter().enumerate() {
                let x = NAME + CELL.0 * column as i32;
                let (word, color) = answer(*decoder, bytes);
                let corners = [(x + 1, y + 1), (x + CELL.0 - 1, y + CELL.1 - 1)];
                root.draw(&Rectangle::new(corners, color.mix(0.25).filled()))?;
                root.draw(&Text::new(word, (x + CELL.0 / 2, y + CELL.1 / 2), centred(13)))?;
            }
        }
        Ok(())
    })
}

fn answer(decoder: &dyn Decoder, bytes: &[u8]) -> (String, RGBColor) {
    let mut out = Vec::new();
    let output = decoder.decode_lossy(bytes, &mut out).map(|()| replacements(&out));
    match (decoder.validate(bytes).map(|validity| validity.is_valid()), output) {
        (Some(true), _) | (None, Some(0)) => ("ok".into(), BLUE),
        (_, Some(count)) => (count.to_string(), VERMILION),
        (Some(false), None) => ("no".into(), PURPLE),
        (None, None) => (String::new(), GREY),
    }
}

/// How often U+FFFD occurs in an output.
fn replacements(output: &[u8]) -> usize {
    output.windows(REPLACEMENT.len()).filter(|window| *window == REPLACEMENT).count()
}

// Throughput.

/// Our speed relative to the fastest peer: a mark for each text, a row for each operation.
#[cfg(feature = "cli")]
pub(super) fn throughput(measured: &Measured) -> io::Result<String> {
    /// Where the last row of marks ends.
    const LAST: f64 = Operation::ALL.len() as f64 - 0.5;
    let place = |operation| Operation::ALL.iter().position(|other| *other == operation);
    let marks = measured.rows.iter().filter_map(|row| Some((row.ratio("own")?, place(row.operation)?)));
    let marks: Vec<(f64, usize)> = marks.collect();
    let least = marks.iter().map(|mark| mark.0).fold(0.5, f64::min) * 0.9;
    let most = marks.iter().map(|mark| mark.0).fold(2.0, f64::max) * 1.1;
    // No grid line is outside the axes.
    let keys = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let keys: Vec<f64> = keys.into_iter().filter(|key| (least..=most).contains(key)).collect();
    let label = "How many times as fast as the fastest peer, for each operation and text";
    picture(label, (1000, 640), |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(16)
            .caption("Times as fast as the fastest peer, each mark a text", font(22))
            .x_label_area_size(50)
            .y_label_area_size(120)
            .build_cartesian_2d((least..most).log_scale().with_key_points(keys), -0.5..LAST)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(font(18))
            .y_labels(Operation::ALL.len())
            .y_label_formatter(&|place: &f64| {
                Operation::ALL.get(place.round() as usize).map_or("", |operation| operation.name()).into()
            })
            .draw()?;
        chart.draw_series(LineSeries::new([(1.0, -0.5), (1.0, LAST)], BLACK.stroke_width(2)))?;
        // Marks of one operation are spread out, so that none hides another.
        let spread = |index: usize| (index % 13) as f64 / 13.0 * 0.6 - 0.3;
        let color = BLUE.mix(0.7);
        let marks = marks.iter().enumerate();
        chart
            .draw_series(marks.map(|(index, (ratio, place))| {
                Circle::new((*ratio, *place as f64 + spread(index)), 4, color.filled())
            }))?;
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
