//! How many times as fast as the fastest peer ours is: a mark for each text, a row for each operation.

use crate::bench::{Measured, Operation};
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::prelude::*;
use std::error::Error;

const SIZE: (u32, u32) = (1000, 640);

/// Where the last row of marks ends.
const LAST: f64 = Operation::ALL.len() as f64 - 0.5;

pub(super) fn svg(measured: &Measured) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    draw(measured, &mut text).map_err(|error| error.to_string())?;
    let label = "How many times as fast as the fastest peer, for each operation and text";
    Ok(text.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1))
}

fn draw(measured: &Measured, text: &mut String) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let marks: Vec<(f64, usize)> = measured
        .rows
        .iter()
        .filter_map(|row| {
            let place = Operation::ALL.iter().position(|operation| *operation == row.operation)?;
            Some((row.ratio("own")?, place))
        })
        .collect();
    let least = marks.iter().map(|mark| mark.0).fold(0.5, f64::min);
    let most = marks.iter().map(|mark| mark.0).fold(2.0, f64::max);
    let keys = vec![0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let font = |size: u32| ("sans-serif", size).into_font().color(&BLACK);
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption("Times as fast as the fastest peer, each mark a text", font(22))
        .x_label_area_size(50)
        .y_label_area_size(120)
        .build_cartesian_2d((least * 0.9..most * 1.1).log_scale().with_key_points(keys), -0.5..LAST)?;
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
    // Marks of one operation stand beside each other, so that none hides another.
    let spread = |index: usize| (index % 13) as f64 / 13.0 * 0.6 - 0.3;
    let color = RGBColor(0x00, 0x72, 0xB2).mix(0.7);
    let marks = marks.iter().enumerate();
    chart.draw_series(
        marks.map(|(index, (ratio, place))| Circle::new((*ratio, *place as f64 + spread(index)), 4, color.filled())),
    )?;
    root.present()?;
    Ok(())
}
