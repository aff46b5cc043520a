//! Planted decoders caught over executions, one line for each engine, as SVG.
//!
//! A line ends where the engine's longest run ended. Engines differ in colour and in mark. Of the score only numbers
//! and our own names get into the picture.

use crate::engine::score::{Cell, Engine, Score};
use crate::report::score::short;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::element::DynElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;

const SIZE: (u32, u32) = (1000, 560);
/// Where the chart ends and the legend begins.
const CHART_WIDTH: i32 = 790;
/// Marks on a line, about.
const MARKS: usize = 8;

/// How far an engine got.
struct Curve {
    engine: Engine,
    /// The median executions of each decoder it caught, ascending.
    caught: Vec<f64>,
    /// The executions of its longest run.
    reach: f64,
}

/// The picture.
pub(super) fn svg(score: &Score) -> Result<String, Box<dyn Error + '_>> {
    let curves: Vec<Curve> = score.engines.iter().map(|engine| curve(score, *engine)).collect();
    let mut text = String::new();
    draw(&curves, score.rows.len(), &mut text).map_err(|error| error.to_string())?;
    let label = "Planted decoders caught over executions, one line for each engine";
    Ok(text.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1))
}

fn curve(score: &Score, engine: Engine) -> Curve {
    let cells = || score.rows.iter().filter_map(|row| row.cell(engine));
    // A logarithm begins at 1.
    let mut caught: Vec<f64> =
        cells().filter_map(Cell::executions).filter(|value| value.is_finite()).map(|value| value.max(1.0)).collect();
    caught.sort_by(f64::total_cmp);
    let reach = cells().flat_map(|cell| &cell.runs).map(|run| run.executions).max().unwrap_or(0);
    Curve { engine, caught, reach: (reach as f64).max(1.0) }
}

fn draw(curves: &[Curve], decoders: usize, text: &mut String) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let reach = curves.iter().map(|curve| curve.reach).fold(10.0, f64::max);
    let powers: Vec<f64> = (0..20).map(|power| 10f64.powi(power)).take_while(|power| *power <= reach).collect();
    let title = format!("Planted decoders caught, of {decoders}: median over the seeds");
    let (area, _) = root.split_horizontally(CHART_WIDTH);
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .caption(title, font(22))
        .x_label_area_size(56)
        .y_label_area_size(64)
        .build_cartesian_2d((1.0..reach).log_scale().with_key_points(powers), 0..decoders.max(1))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(0xDD, 0xDD, 0xDD))
        .axis_style(RGBColor(0x55, 0x55, 0x55))
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
        // Each line is marked at other heights, so that lines which run together can be told apart.
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
    root.present()?;
    Ok(())
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

/// Colours that most people tell apart (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
fn style(engine: Engine) -> ShapeStyle {
    let color = match engine {
        Engine::Exhaustive => RGBColor(0x00, 0x00, 0x00),
        Engine::Structured => RGBColor(0x00, 0x72, 0xB2),
        Engine::Plain => RGBColor(0xD5, 0x5E, 0x00),
        Engine::Mutator => RGBColor(0xCC, 0x79, 0xA7),
        Engine::Behaviour => RGBColor(0x00, 0x9E, 0x73),
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
